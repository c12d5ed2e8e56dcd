// Search runs in a worker, which browsers refuse to a page that is opened as a file. There a hidden
// frame takes its place: a page within the page, which loads the same script and is sent the same messages.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.document.open();       // removes listeners, so those of the frame come after it
      inside.document.write(`<!DOCTYPE html><body><script>
        var postMessage = (data) => parent.postMessage(data, "*");
        var importScripts = (...all) => Promise.all(all.map((src) => new Promise((done) => {
          const script = Object.assign(document.createElement("script"), { src, async: false });
          script.addEventListener("load", done);
          document.body.append(script);
        })));
      <\/script><script src="${address}"><\/script></body>`);
      this.ready = new Promise((done) => inside.addEventListener("load", done, { once: true }));
      inside.document.close();
      addEventListener("message", (event) => {
        if (event.source !== inside) return;
        this.dispatchEvent(new MessageEvent("message", { data: event.data }));
        this.onmessage?.(event);
      });
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
