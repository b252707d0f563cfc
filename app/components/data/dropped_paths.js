// A dropped folder keeps its name. Streamlit names an uploaded file by webkitRelativePath, which browsers fill only if
// the folder was chosen with a button. Of a dropped folder, Streamlit's uploader (file-selector) notes each file's path
// in relativePath, but does not send it.

const KEPT = Symbol.for("hedge:dropped-paths");

export default function () {
  if (File.prototype[KEPT]) return;
  const own = Object.getOwnPropertyDescriptor(File.prototype, "webkitRelativePath");
  Object.defineProperty(File.prototype, "webkitRelativePath", {
    ...own,
    get() {
      return own.get.call(this) || String(this.relativePath ?? "").replace(/^\.?\//, "");
    },
  });
  File.prototype[KEPT] = true;
}
