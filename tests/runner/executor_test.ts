import assert from "node:assert/strict";
import { Interruption, type Sandbox } from "../../runner/executor/mod.ts";
import { THOROUGH } from "../support/level.ts";
import { peer } from "../support/peers.ts";
import { asked } from "../support/until.ts";
import { bwrap, plain, runJob } from "./support.ts";

async function bubblewrap(): Promise<Sandbox> {
  const found = await bwrap();
  assert.ok(!("why" in found), "why" in found ? found.why : "");
  return found;
}

const SANDBOXES = [
  ["bubblewrap", bubblewrap, peer("bwrap")],
  ["no isolation", plain, THOROUGH],
] as const;

/** Whether a process sleeps for so many seconds. */
async function sleeps(seconds: string): Promise<boolean> {
  const script = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '";
  const { stdout } = await new Deno.Command("sh", { args: ["-c", script] }).output();
  return new TextDecoder().decode(stdout).includes(`sleep ${seconds}`);
}

/** A number of seconds to sleep, by which a process is found. */
function uniqueSeconds(): string {
  return `${1000 + crypto.getRandomValues(new Uint32Array(1))[0]! % 1_000_000}.25`;
}

for (const [name, find, options] of SANDBOXES) {
  Deno.test(`in ${name}, commands run in order until one fails`, options, async () => {
    const { lines, outcome, exit_code, summary } = await runJob({
      sandbox: await find(),
      commands: ["printf 'a\\nb' && echo c >&2", "cat file; exit 3", "echo never"],
      files: { "file": "text" },
    });
    const shown = lines.filter(({ stream }) => stream !== "err");
    assert.deepEqual(shown.map(({ stream, text }) => `${stream} ${text}`), [
      "command printf 'a\\nb' && echo c >&2",
      "out a",
      "out b",
      "command cat file; exit 3",
      "out text",
      "note Command 2 of 3 failed with exit code 3: cat file; exit 3",
    ]);
    // Both pipes have come to an end before the next command begins.
    const order = lines.map(({ stream, text }) => stream === "out" ? text : stream);
    assert.ok(order.indexOf("err") < order.lastIndexOf("command"), order.join());
    assert.deepEqual({ outcome, exit_code }, { outcome: "failure", exit_code: 3 });
    assert.equal(summary, "Command 2 of 3 failed with exit code 3: cat file; exit 3");
    assert.ok(lines.every(({ at }, index) => at >= (lines[index - 1]?.at ?? 0)));
  });

  Deno.test(`in ${name}, the environment is the job's own`, options, async () => {
    const { out } = await runJob({
      sandbox: await find(),
      commands: [
        "env -0 | cut -z -d= -f1 | tr '\\0' '\\n'",
        "printf '%s' \"$ODD\"",
        "id -u; pwd; echo ~",
      ],
      env: { ODD: "it's\n$(two) lines", LD_PRELOAD: "" },
      secrets: { DEPLOY_KEY: "hunter22" },
    });
    const own = [
      ..."CI DEPLOY_KEY HOME LANG LD_PRELOAD MUSTER_JOB_FOLDER ODD OLDPWD PATH PWD SHLVL _"
        .split(" "),
    ];
    const [names = "", rest = ""] = [
      out.slice(0, out.indexOf("it's")),
      out.slice(out.indexOf("it's")),
    ];
    assert.deepEqual(names.trim().split("\n").filter((one) => !own.includes(one)), []);
    assert.match(rest, /^it's\n\$\(two\) lines\n[1-9]\d*\n\S+\/checkout\n\S+\/home$/);
  });

  Deno.test(`in ${name}, what a job leaves behind ends with it`, options, async () => {
    const seconds = uniqueSeconds();
    const { outcome } = await runJob({
      sandbox: await find(),
      commands: [`setsid sleep ${seconds} & sleep ${seconds} & nohup sleep ${seconds} & exit 0`],
    });
    assert.equal(outcome, "success");
    await asked(() => sleeps(seconds), (isThere) => !isThere);
  });

  Deno.test(
    `in ${name}, a job that ignores signals ends when it is cancelled`,
    options,
    async () => {
      const stopped = new AbortController();
      const seconds = uniqueSeconds();
      const { outcome, summary } = await runJob({
        sandbox: await find(),
        commands: [
          `trap '' TERM INT HUP; setsid sleep ${seconds} & echo ready; while :; do sleep ${seconds}; done`,
        ],
        signal: stopped.signal,
        onLine: ({ text }) => {
          if (text === "ready") stopped.abort(new Interruption("A later round began", 200));
        },
      });
      assert.deepEqual({ outcome, summary }, {
        outcome: "cancelled",
        summary: "A later round began",
      });
      await asked(() => sleeps(seconds), (isThere) => !isThere);
    },
  );

  Deno.test(`in ${name}, a job that was cancelled may clean up`, options, async () => {
    const stopped = new AbortController();
    const { out, outcome } = await runJob({
      sandbox: await find(),
      commands: ["trap 'echo cleaned; exit' TERM; echo ready; while :; do sleep 0.05; done"],
      signal: stopped.signal,
      onLine: ({ text }) => text === "ready" ? stopped.abort() : undefined,
    });
    assert.equal(outcome, "cancelled");
    assert.equal(out, "ready\ncleaned");
  });

  Deno.test(`in ${name}, a job ends at its limits, which it is told, and the next one runs`, {
    ...options,
  }, async () => {
    const sandbox = await find();
    const hostile = [
      [{ commands: ["sleep 600"], timeout_seconds: 1 }, /^It took longer than 1 second$/],
      [
        { commands: ["f() { f | f & }; f; sleep 60"], timeout_seconds: 2 },
        /took longer|failed|ended by/,
      ],
      [
        { commands: ["while :; do cat /dev/zero | head -c 10m >> file; done"] },
        /^The check wrote more than 64 MB to its folders$|SIGXFSZ|failed with exit code/,
      ],
      [
        { commands: ["head -c 900m /dev/zero | tail -c 900m | wc -c | grep 943718400"] },
        /failed with exit code 1|more than 512 MB of memory/,
      ],
    ] as const;
    for (const [plan, expected] of hostile) {
      const { outcome, summary } = await runJob({ sandbox, ...plan, commands: [...plan.commands] });
      assert.equal(outcome, "failure", plan.commands[0]);
      assert.match(summary, expected);
      const next = await runJob({ sandbox, commands: ["echo next"] });
      assert.deepEqual([next.outcome, next.out], ["success", "next"], plan.commands[0]);
    }
  });
}

Deno.test("a job that takes memory with many processes ends", peer("bwrap"), async () => {
  const one = "head -c 100m /dev/zero | tail -c 100m | sleep 60 &";
  const { outcome, summary } = await runJob({
    sandbox: await bubblewrap(),
    commands: [`${one.repeat(12)} wait`],
    timeout_seconds: 30,
  });
  assert.deepEqual({ outcome, summary }, {
    outcome: "failure",
    summary: "The check used more than 512 MB of memory",
  });
});

Deno.test("1 GB of output is cut, which is told, and the job goes on", THOROUGH, async () => {
  let characters = 0;
  const { outcome, notes, lines } = await runJob({
    sandbox: await plain(),
    commands: ["yes 0123456789012345678901234567890123456789 | head -c 1G", "echo end; exit 4"],
    onLine: ({ text }) => void (characters += text.length),
  });
  assert.equal(outcome, "failure");
  assert.match(notes, /^The output is cut here: the check may print 4 MB\nCommand 2 of 2 failed/);
  assert.ok(characters < 5_000_000, String(characters));
  assert.equal(lines.filter(({ stream }) => stream === "command").length, 2);
});

Deno.test("a job in bubblewrap reaches nothing", peer("bwrap"), async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const secret = await Deno.makeTempFile();
  await Deno.writeTextFile(secret, "the runner's token");
  await Deno.chmod(secret, 0o644);
  const { out, outcome } = await runJob({
    sandbox: await bubblewrap(),
    shell: "bash",
    commands: [
      "set +e; for file in /x /usr/x /etc/x /dev/x /work/x /bin/x /proc/sys/kernel/x; do touch $file 2>/dev/null && echo wrote $file; done; true",
      `set +e; cat ${secret} /etc/shadow /root/.bashrc /var/lib/muster-runner 2>/dev/null; ls /home /root /var /run /sys 2>/dev/null; true`,
      "set +e; cat /proc/*/environ | tr '\\0' '\\n' | cut -d= -f1 | sort -u",
      `set +e; for place in 127.0.0.1/${port} 169.254.169.254/80 1.1.1.1/443; do (exec 3<>/dev/tcp/$place) 2>/dev/null && echo reached $place; done; true`,
      "set +e; unshare -Ur true 2>/dev/null && echo more rights; mount -t tmpfs none /mnt 2>/dev/null && echo mounted; kill -9 1 2>/dev/null; true",
      "set +e; head -c 400m /dev/zero > /tmp/x 2>/dev/null || echo tmp is bounded; rm /tmp/x",
      "set +e; head -c 400m /dev/zero > /dev/shm/x 2>/dev/null || echo shm is bounded; rm /dev/shm/x",
      "set +e; ls /proc | grep -c '^[0-9]*$'; grep -c . /proc/net/dev; grep NoNewPrivs /proc/self/status; grep CapEff /proc/self/status",
    ],
  });
  await Deno.remove(secret);
  const [names, rest] = [out.split("\n").slice(0, -6), out.split("\n").slice(-6)];
  const own = "CI HOME LANG OLDPWD PATH PWD SHLVL _".split(" ");
  assert.deepEqual(names.filter((name) => !own.includes(name)), []);
  assert.deepEqual(rest.slice(0, 2), ["tmp is bounded", "shm is bounded"]);
  assert.ok(Number(rest[2]) < 10, rest[2]);
  assert.equal(rest[3], "3"); // Two lines of titles, and the loopback.
  assert.match(rest[4] ?? "", /NoNewPrivs:\s+1/);
  assert.match(rest[5] ?? "", /CapEff:\s+0+$/);
  assert.equal(outcome, "success");
});

Deno.test("a check that asks for the network has it", peer("bwrap"), async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const accepted = listener.accept();
  const { outcome } = await runJob({
    sandbox: await bubblewrap(),
    shell: "bash",
    network: true,
    commands: [`exec 3<>/dev/tcp/127.0.0.1/${port}`],
  });
  assert.equal(outcome, "success");
  (await accepted).close();
});

Deno.test("a shell that is not there is told", async () => {
  const { outcome, exit_code, err } = await runJob({
    sandbox: await plain(),
    shell: "no-such-shell",
    commands: ["echo hello"],
  });
  assert.deepEqual({ outcome, exit_code }, { outcome: "failure", exit_code: 127 });
  assert.match(err, /no-such-shell/);
});
