/**
 * A server that passes each request to `git http-backend`, for the repositories in the folder that is
 * its argument. Writes its port to standard output. What the children of this process use is Git's own.
 */
const [root = "."] = Deno.args;

/** What ends the head of a CGI program's answer. */
const END = "\r\n\r\n";

async function answer(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const header = (name: string) => request.headers.get(name) ?? "";
  const backend = new Deno.Command("git", {
    args: ["http-backend"],
    env: {
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_PROTOCOL: header("git-protocol"),
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      REMOTE_USER: "bench",
      CONTENT_TYPE: header("content-type"),
      HTTP_CONTENT_ENCODING: header("content-encoding"),
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  (request.body ?? new Blob([]).stream()).pipeTo(backend.stdin).catch(() => {});
  const reader = backend.stdout.getReader();
  let text = "";
  let rest = new Uint8Array(0);
  for (let end = -1; end < 0; end = text.indexOf(END)) {
    const { value = new Uint8Array(0), done } = await reader.read();
    if (done) return new Response("No answer", { status: 502 });
    const before = text.length;
    text += new TextDecoder("latin1").decode(value);
    rest = value.slice(Math.max(0, text.indexOf(END) + END.length - before));
  }
  const lines = text.slice(0, text.indexOf(END)).split("\r\n");
  const fields = lines.map((line) => line.split(": ", 2) as [string, string]);
  const status = fields.find(([name]) => name === "Status")?.[1] ?? "200";
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(rest),
    async pull(controller) {
      const { value, done } = await reader.read();
      if (!done) return controller.enqueue(value);
      // Its usage counts once it was waited for.
      await backend.status;
      controller.close();
    },
  }, { highWaterMark: 0 });
  const headers = fields.filter(([name]) => name !== "Status");
  return new Response(body, { status: parseInt(status), headers });
}

const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, answer);
Deno.stdout.writeSync(new TextEncoder().encode(`${server.addr.port}`));
