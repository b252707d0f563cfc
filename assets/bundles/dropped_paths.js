/* npm run bundle wrote this file. */
var t=Symbol.for("hedge:dropped-paths");function r(){if(File.prototype[t])return;let e=Object.getOwnPropertyDescriptor(File.prototype,"webkitRelativePath");Object.defineProperty(File.prototype,"webkitRelativePath",{...e,get(){return e.get.call(this)||String(this.relativePath??"").replace(/^\.?\//,"")}}),File.prototype[t]=!0}export{r as default};
