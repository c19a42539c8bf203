import assert from "node:assert/strict";
import { join } from "node:path";
import { call } from "../support/api.ts";
import { musterWords, type Program, startProgram } from "../support/program.ts";

const README = new URL("../../README.md", import.meta.url);

/** The code blocks of the tour, in their order, as one text to paste. */
async function tour(): Promise<string> {
  const text = await Deno.readTextFile(README);
  const [, section = ""] = /^## A tour.*?\n(.*?)^## /ms.exec(text) ?? [];
  const blocks = Array.from(section.matchAll(/^```sh\n(.*?)^```$/gms), ([, block = ""]) => block);
  return blocks.join("\n");
}

/** Waits until somebody reads a stream: on a busy machine, that takes longer than a second. */
const UNTIL_WATCHED = `for _ in $(seq 600); do
  curl -s $API/v1/metrics -H "Authorization: Bearer $TOKEN" |
    grep -q '^muster_stream_readers 1$' && break
  sleep 0.1
done`;

/**
 * Puts the addresses of a started program where the tour has the usual ones, and a wait for the
 * stream where it pauses.
 */
function at(program: Program, text: string): string {
  const command = musterWords().map((word) => `'${word}'`).join(" ");
  return text
    .replace(/^sleep 1$/m, () => UNTIL_WATCHED)
    .replaceAll("127.0.0.1:8080", new URL(program.api).host)
    .replaceAll("http://127.0.0.1:8081/mcp", program.mcp)
    .replaceAll("127.0.0.1:6667", `127.0.0.1:${program.irc.port}`)
    .replaceAll("npx deno@2.9.6 task start", `MUSTER_URL=${program.api} ${command}`);
}

/** Runs a script beside a program; gives its exit code and its outputs. */
async function paste(program: Program, text: string) {
  const script = join(program.folder, "tour.sh");
  await Deno.writeTextFile(script, text);
  const { code, stdout, stderr } = await new Deno.Command("bash", {
    args: [script],
    cwd: program.folder,
    stdin: "null",
  }).output();
  const [output, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, output: output ?? "", errors: errors ?? "" };
}

/** Shows which of the tour's secrets are worth something. */
const SECRETS = `
status() { curl -s -o /dev/null -w '%{http_code} ' "$@" $REPO/project; }
echo; status -u "scout:$SCOUT"; status -u "builder:$BUILDER"; status -H "Authorization: Bearer $ANN"`;

Deno.test("the tour of the README works when its lines are pasted, also a second time, and keeps no error as a secret", async () => {
  await using program = await startProgram();
  const text = at(program, await tour());
  const { code, output, errors } = await paste(program, `set -em\n${text}`);
  assert.equal(code, 0, `${output}\n${errors}`);

  // The stream shares the terminal with the commands, so its line may begin behind theirs.
  const streamed = Array.from(
    output.matchAll(/data: (\{.*\})$/gm),
    ([, data = ""]) => JSON.parse(data),
  );
  assert.deepEqual(streamed.map(({ nick }) => nick), ["builder", "builder", "scout"]);
  assert.equal(streamed[0].text, "hello, agents");
  assert.equal(JSON.parse(streamed[1].text).type, "task.create");
  assert.equal(streamed[2].text, "hello from IRC");
  assert.match(output, /message sent to #general/);
  assert.match(output, /\+Hello, agents/);
  assert.match(output, /"status":"approved"/);
  assert.match(output, /"title":"Say hello","status":"Closed"/);
  assert.match(output, /Merge review 1: Say hello[^\n]*\n +builder \(trunk, merge, leaf\)/);
  assert.match(output, /^ {2}\/network add -sasl_username ann /m);

  const users = await (await call(program, "GET", "/v1/channels/general/users")).json();
  assert.deepEqual(users, ["bridge", "builder", "scout"]);
  const members = await (await call(program, "GET", "/v1/projects/demo/members")).json();
  assert.equal(members.find(({ name }: { name: string }) => name === "admin").role, "admin");

  const again = await paste(program, `set -m\n${text}\n${SECRETS}`);
  assert.match(again.output, /^200 200 200 $/m, `${again.output}\n${again.errors}`);
  assert.match(again.output, /"id":2,"status":"merged"/);
  assert.equal(again.output.match(/"error":/g)?.length, 1, "only the project exists already");
});
