// Server-sent events of a request that carries a header, which the browser's own EventSource can't send.

// Call `heard(name, values)` for each event until the server closes the stream.
export async function readEvents(answer, heard) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const text of events) {
      const name = /^event: (.*)$/m.exec(text)?.[1];
      const data = /^data: (.*)$/m.exec(text)?.[1];
      if (name && data) heard(name, JSON.parse(data));
    }
  }
}
