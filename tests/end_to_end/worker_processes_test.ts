import assert from "node:assert/strict";
import { call } from "../support/api.ts";
import { startProgram } from "../support/program.ts";
import { asked } from "../support/until.ts";
import { stopProcess, workerProcessesOf } from "../support/worker_processes.ts";

Deno.test({
  name:
    "processes start with the first project; one that stops or is killed is not noticed elsewhere",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using program = await startProgram();
    const { pid } = program;
    const post = async (text: string) => {
      const message = { text, nick: "visitor" };
      const { status } = await call(program, "POST", "/v1/channels/general/messages", message);
      assert.equal(status, 204);
    };
    await post("before");
    assert.deepEqual(await workerProcessesOf(pid), [], "without projects, nothing is started");
    const processOf = async (slug: string) => {
      const before = await workerProcessesOf(pid);
      const { status } = await call(program, "POST", "/v1/projects", { slug, name: slug });
      assert.equal(status, 201);
      const started = (await workerProcessesOf(pid)).filter((one) => !before.includes(one));
      return started.at(0);
    };
    const one = await processOf("one");
    await processOf("two");
    assert.ok(one !== undefined);
    const read = async (slug: string, perPage: number) => {
      const path = `/projects/${slug}/fossil/api/timeline?per_page=${perPage}`;
      const response = await call(program, "GET", path);
      await response.body?.cancel();
      return response.status;
    };

    await stopProcess(one);
    const waiting = read("one", 1);
    await post("beside a process that stands still");
    for (const perPage of [1, 2, 3]) assert.equal(await read("two", perPage), 200);

    Deno.kill(one, "SIGKILL");
    assert.ok([200, 503].includes(await waiting));
    assert.equal(await asked(() => read("one", 2), (status) => status === 200), 200);
    assert.ok(!(await workerProcessesOf(pid)).includes(one));
    assert.equal(await program.stop(), 0);
    assert.deepEqual(await workerProcessesOf(pid), []);
  },
});

Deno.test({
  name: "the server ends although a process that stands still has a call without a limit",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using program = await startProgram();
    const create = (slug: string) => call(program, "POST", "/v1/projects", { slug, name: slug });
    for (const slug of ["one", "two"]) assert.equal((await create(slug)).status, 201);
    for (const pid of await workerProcessesOf(program.pid)) await stopProcess(pid);
    const waiting = create("three").catch(() => null);
    assert.equal(await program.stop(), 0);
    await waiting;
  },
});
