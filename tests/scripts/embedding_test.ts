import assert from "node:assert/strict";
import { join } from "node:path";
import { makeScripts, packCaches, packSeldom, unpackCaches } from "../../scripts/embedding/mod.ts";
import { withFolder, writeFile } from "../support/temporary.ts";

/** A bundle like that of muster: commands, a server, what is loaded later, a worker, an engine. */
const BUNDLE: Readonly<Record<string, string>> = {
  "main.js": `import { NAME } from "./name.js";
    const commands = [() => import("./server.js"), () => import("./status.js")];
    console.log(NAME, (await (await commands[0]()).SERVE.run()).join());
    console.log((await commands[1]()).status());`,
  "name.js": `export const NAME = "program"; export const setTimeoutOfModules = setTimeout;`,
  "server.js": `export const SERVE = { run: async () => (await import("./serve.js")).serve() };`,
  "status.js": `import { small } from "./small.js";
    import { Repository } from "./chunk.js";
    export const status = () => [small, new Repository().name, Repository.name].join();`,
  "chunk.js": `import { NAME } from "./name.js";
    export class Repository { name = NAME + " of the engine"; }`,
  "small.js": `export const small = "small";`,
  "serve.js": `import { NAME, setTimeoutOfModules } from "./name.js";
    import { Core } from "./core.js";
    import { inner } from "./inner.js";
    import { shared } from "./shared.js";
    import { small } from "./small.js";
    import { basename } from "node:path";
    export async function serve() {
      const { isCore } = await import("./late.js");
      const url = basename(import.meta.url, ".js");
      const timer = setTimeout === setTimeoutOfModules;
      return [NAME, isCore(new Core()), inner(), shared, small, basename("/a/b"), timer, url];
    }`,
  "core.js": `export class Core {} ; export { Core as default };`,
  "inner.js": `export const inner = () => "inner";`,
  "late.js": `import Default, { Core } from "./core.js";
    export const isCore = (value) => value instanceof Core && Default === Core;`,
  "shared.js": `export const shared = "shared";`,
  "x_worker.ts": `import "./services/x_worker.js";`,
  "services/x_worker.js": `import { shared } from "../shared.js";
    import { Repository } from "../chunk.js";
    console.log(shared, new Repository().name);`,
};

/** Scripts that few servers load, in one of which another module is. */
const SELDOM: Readonly<Record<string, string>> = {
  "main.js": `const names = ["acme", "licenses", "llm", "irc"];
    for (const name of names) console.log(Object.keys(await import("./" + name + ".js")).join());
    const { default: place, AcmeCertificate } = await import("./acme.js");
    const { Base } = await import("./base.js");
    console.log(new AcmeCertificate() instanceof Base, place("a", "b"));
    () => [import("./acme.js"), import("./licenses.js"), import("./llm.js"), import("./irc.js")];`,
  "base.js": `export class Base {}`,
  "acme.js": `import { Base } from "./base.js";
    import { join } from "node:path";
    export class AcmeCertificate extends Base {}
    export default (...parts) => join(...parts);`,
  "licenses.js": `export const LICENSES = "${"MIT ".repeat(1000)}";`,
  "llm.js": `export const createAmazonBedrock = 1, createAnthropic = 2,
    createGoogleGenerativeAI = 3, openExternal = 4;`,
  "irc.js": `export const ircLineParser = (line) => line;`,
};

async function writeBundle(
  folder: string,
  bundle: Readonly<Record<string, string>>,
): Promise<void> {
  await Deno.mkdir(join(folder, "services"));
  for (const [name, text] of Object.entries(bundle)) await writeFile(folder, name, text);
}

async function output(script: string): Promise<string> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-config", "--allow-read", script],
  }).output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

Deno.test("a bundle with scripts does the same, with the same classes", async () => {
  await withFolder(async (folder) => {
    await writeBundle(folder, BUNDLE);
    const before = await output(join(folder, "main.js"));
    assert.equal(
      before,
      "program program,true,inner,shared,small,b,true,serve\nsmall,program of the engine,Repository\n",
    );
    await makeScripts(folder);
    assert.equal(await output(join(folder, "main.js")), before.replace(",serve\n", ",start\n"));
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name);
    assert.ok(!names.includes("inner.js"), "Only the start script has what it alone uses");
    const text = (name: string) => Deno.readTextFileSync(join(folder, name));
    const script = text("start.script");
    assert.ok(script.includes("inner"));
    assert.ok(text("engine.script").includes("of the engine"));
    assert.ok(!text("chunk.js").includes("of the engine"));
    const worker = join(folder, "services", "x_worker.js");
    assert.equal(await output(worker), "shared program of the engine\n");
    for (const name of ["name.js", "shared.js", "small.js"]) {
      assert.equal(text(name), BUNDLE[name], "Commands and workers load this without the start");
    }
  });
});

Deno.test("a script whose code V8 does not take runs all the same", async () => {
  await withFolder(async (folder) => {
    await writeBundle(folder, BUNDLE);
    await makeScripts(folder);
    const before = await output(join(folder, "main.js"));
    for (const name of ["start.cache", "engine.cache"]) {
      await writeFile(folder, name, "of another runtime".padEnd(100));
    }
    assert.equal(await output(join(folder, "main.js")), before);
  });
});

Deno.test("a bundle without a server has no start script", async () => {
  await withFolder(async (folder) => {
    await writeFile(folder, "main.js", "console.log(1);");
    await assert.rejects(() => makeScripts(folder), /No script of the bundle has `serve`/);
  });
});

Deno.test("the code of both scripts lies in one file, and is taken out as it was", () => {
  const caches = [new Uint8Array([1, 2, 3]), new Uint8Array([4])];
  assert.deepEqual(unpackCaches(packCaches(caches)), caches);
});

Deno.test("what few servers load is compressed, and does the same with the same classes", async () => {
  await withFolder(async (folder) => {
    await writeBundle(folder, SELDOM);
    const before = await output(join(folder, "main.js"));
    assert.match(before, /^AcmeCertificate,default\n[^]*\ntrue a\/b\n$/);
    await packSeldom(folder);
    assert.equal(await output(join(folder, "main.js")), before);
    const sizeOf = (name: string) => Deno.statSync(join(folder, name)).size;
    assert.ok(sizeOf("licenses.gz") + sizeOf("licenses.js") < 1500);
  });
});

Deno.test("a bundle that lacks what is to be compressed is refused", async () => {
  await withFolder(async (folder) => {
    await writeBundle(folder, BUNDLE);
    await assert.rejects(() => packSeldom(folder), /No script of the bundle exports "AcmeCert/);
  });
});
