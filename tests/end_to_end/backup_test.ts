/** `muster backup` and `muster restore`, against the real program and its files. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { call, registerAgent } from "../support/api.ts";
import { succeed } from "../support/commands.ts";
import {
  cleanEnvironment,
  musterWords,
  type Program,
  runMuster,
  startProgram,
} from "../support/program.ts";
import { runOn, smallDisk } from "../support/small_disk.ts";
import { withFolder } from "../support/temporary.ts";

const API = "/projects/demo/fossil/api";

/** Makes a project with a ticket, a page and a message, and returns what they say. */
async function fill(program: Program): Promise<void> {
  await answer(program, "POST", "/v1/projects", { slug: "demo" });
  await answer(program, "POST", `${API}/tickets`, { title: "Leak" });
  await answer(program, "PUT", `${API}/wiki/Home`, { content: "Welcome" });
  await registerAgent(program, "scout");
  await answer(program, "POST", "/v1/channels/general/messages", { text: "hello" });
}

async function answer(program: Program, method: string, path: string, body?: unknown) {
  const response = await call(program, method, path, body);
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}

/** What {@linkcode fill} made, as the API shows it. */
async function contentOf(program: Program) {
  const { tickets } = await answer(program, "GET", `${API}/tickets`);
  const { content } = await answer(program, "GET", `${API}/wiki/Home`);
  const messages = await answer(program, "GET", "/v1/channels/general/messages");
  const agents = await answer(program, "GET", "/v1/agents");
  return {
    tickets: tickets.map(({ title }: { title: string }) => title),
    content,
    messages: messages.map(({ text }: { text: string }) => text),
    agents: agents.map(({ nick }: { nick: string }) => nick),
  };
}

const FILLED = { tickets: ["Leak"], content: "Welcome", messages: ["hello"], agents: ["scout"] };

/** Restores a backup in a new folder, starts the program there and reads what it holds. */
async function restored(folder: string, backup: string, ...more: string[]) {
  await Deno.mkdir(folder);
  const { code, stdout, stderr } = await runMuster(["restore", backup, ...more], { folder });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /all whole/);
  await using program = await startProgram({ folder });
  return await contentOf(program);
}

Deno.test("a backup of a running server holds what was acknowledged before", async () => {
  await withFolder(async (folder) => {
    await using program = await startProgram();
    await fill(program);
    const archive = join(folder, "backup.tar.gz");
    await succeed(program, "backup", archive);
    assert.equal((await Deno.stat(archive)).mode! & 0o777, 0o600);
    // Root types it, and the server of a service, which is another user, reads its time.
    const stamp = join(program.folder, "data", "last_backup");
    assert.equal((await Deno.stat(stamp)).mode! & 0o777, 0o644);
    await answer(program, "PUT", `${API}/wiki/Home`, { content: "Later" });
    assert.deepEqual(await restored(join(folder, "copy"), archive), FILLED);
  });
});

Deno.test("a folder of backups stores what has not changed once, and each backup is whole", async () => {
  await withFolder(async (folder) => {
    const home = join(folder, "home");
    const backups = join(folder, "backups");
    await Deno.mkdir(home);
    const backUp = async () => {
      const args = ["backup", "--to", backups, "--keep", "2", "--json"];
      const { code, stdout, stderr } = await runMuster(args, { folder: home });
      assert.equal(code, 0, stderr);
      return JSON.parse(stdout);
    };
    {
      await using program = await startProgram({ folder: home });
      await fill(program);
      assert.equal(await program.stop(), 0);
    }
    const first = await backUp();
    assert.equal(first.unchanged, 0);
    const second = await backUp();
    const { size } = await Deno.stat(join(home, "data", "projects", "demo.fossil"));
    assert.ok(second.unchanged >= size, JSON.stringify(second));
    {
      await using program = await startProgram({ folder: home });
      await answer(program, "PUT", `${API}/wiki/Home`, { content: "Later" });
      await backUp();
    }
    const names = [...Deno.readDirSync(join(backups, "backups"))].map(({ name }) => name)
      .toSorted();
    assert.equal(names.length, 2);
    const [older = ""] = names;
    const later = await restored(join(folder, "newest"), backups);
    assert.equal(later.content, "Later");
    const at = older.replace(".json", "");
    assert.deepEqual(await restored(join(folder, "older"), backups, "--at", at), FILLED);
  });
});

Deno.test("a data folder can be moved", async () => {
  await withFolder(async (folder) => {
    const [first, second] = [join(folder, "first"), join(folder, "second")];
    await Deno.mkdir(first);
    {
      await using program = await startProgram({ folder: first });
      await fill(program);
      assert.equal(await program.stop(), 0);
    }
    await Deno.mkdir(second);
    await Deno.rename(join(first, "data"), join(second, "data"));
    await using moved = await startProgram({ folder: second });
    assert.deepEqual(await contentOf(moved), FILLED);
    await answer(moved, "PUT", `${API}/wiki/Home`, { content: "Moved" });
  });
});

Deno.test("a restore leaves a used folder alone, or moves it aside", async () => {
  await withFolder(async (folder) => {
    const archive = join(folder, "backup.tar");
    await using program = await startProgram();
    const restore = (...more: string[]) =>
      runMuster(["restore", archive, ...more], { folder: program.folder });
    await fill(program);
    await succeed(program, "backup", archive);
    await answer(program, "PUT", `${API}/wiki/Home`, { content: "Later" });

    const used = await restore("--replace");
    assert.equal(used.code, 1);
    assert.match(used.stderr, /is in use by another muster/);
    assert.equal(await program.stop(), 0);
    const full = await restore();
    assert.equal(full.code, 1);
    assert.match(full.stderr, /is not empty; --replace moves it aside/);

    const { code, stdout } = await restore("--replace");
    assert.equal(code, 0);
    assert.match(stdout, /What was there before is in .*data\.before-restore-1/);
    await using again = await startProgram({ folder: program.folder });
    assert.deepEqual(await contentOf(again), FILLED);
    const left = [...Deno.readDirSync(program.folder)].map(({ name }) => name).toSorted();
    assert.deepEqual(left, ["data", "data.before-restore-1"]);
  });
});

Deno.test("repositories in a folder of their own are part of a backup", async () => {
  await withFolder(async (folder) => {
    const archive = join(folder, "backup.tar");
    const environment = (name: string) => ({ MUSTER_PROJECTS_DIR: join(folder, name) });
    {
      await using program = await startProgram({ environment: environment("before") });
      await fill(program);
      const { code, stderr } = await runMuster(["backup", archive], {
        folder: program.folder,
        environment: environment("before"),
      });
      assert.equal(code, 0, stderr);
    }
    const copy = join(folder, "copy");
    await Deno.mkdir(copy);
    const options = { folder: copy, environment: environment("after") };
    const { code, stderr } = await runMuster(["restore", archive], options);
    assert.equal(code, 0, stderr);
    await using program = await startProgram(options);
    assert.deepEqual(await contentOf(program), FILLED);
  });
});

Deno.test("a backup to a pipe that nobody reads, and to a full disk, has failed", async () => {
  await using program = await startProgram();
  assert.equal(await program.stop(), 0);
  const unread = "mkfifo pipe; exec 3<>pipe 4>pipe 3>&-";
  for (const [opened, place] of [[unread, ">&4"], ["", ">/dev/full"]]) {
    const script = `${opened}\n"$0" "$@" backup - ${place}`;
    const { code, stderr } = await new Deno.Command("bash", {
      cwd: program.folder,
      args: ["-c", script, ...musterWords()],
      clearEnv: true,
      env: cleanEnvironment({}),
    }).output();
    assert.equal(code, 1, place);
    assert.match(
      new TextDecoder().decode(stderr),
      /^Standard output cannot be written: .*os error/,
    );
  }
});

Deno.test("a backup is made even where its time cannot be noted", async () => {
  await withFolder(async (folder) => {
    await using program = await startProgram();
    await fill(program);
    await Deno.mkdir(join(program.folder, "data", "last_backup"));
    const archive = join(folder, "backup.tar");
    const { code, stdout, stderr } = await runMuster(["backup", archive], {
      folder: program.folder,
    });
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^warning: the backup is made, but ".*last_backup" could not be written/m);
    assert.ok(stdout.includes(archive));
    assert.deepEqual(await restored(join(folder, "copy"), archive), FILLED);
  });
});

Deno.test("a full disk leaves no half archive", smallDisk(), async () => {
  await withFolder(async (folder) => {
    await using program = await startProgram();
    await fill(program);
    assert.equal(await program.stop(), 0);
    const disk = join(folder, "disk");
    await Deno.mkdir(disk);
    const script =
      'head -c 900k /dev/zero > "$0/other"; cd "$1"; shift; "$@" backup "$0/b.tar"; ls -A "$0"';
    const { stdout, stderr } = runOn(disk, 1, script, [program.folder, ...musterWords()]);
    assert.match(stderr, /The disk is full: ".*b\.tar" cannot be written/);
    assert.equal(stdout.trim(), "other");
  });
});
