import assert from "node:assert/strict";
import fc from "fast-check";
import {
  DefinitionInvalid,
  hashedFiles,
  keyOfCache,
  parseDefinition,
} from "../../../../services/work/definitions/mod.ts";
import { definitionJsonSchema } from "../../../../services/work/definitions/schemas.ts";

function faultsOf(text: string): string[] {
  try {
    parseDefinition(text, "f");
  } catch (error) {
    assert.ok(error instanceof DefinitionInvalid, String(error));
    return error.message.split("\n");
  }
  return [];
}

Deno.test("a check of one line gets a value for all that it leaves out", () => {
  const { checks } = parseDefinition("checks:\n  tests:\n    run: make test\n");
  assert.deepEqual(checks, [{
    name: "tests",
    commands: ["make test"],
    shell: "sh",
    timeoutSeconds: 3600,
    needs: [],
    on: { review: true, landing: true, push: null, cron: [] },
    labels: [],
    env: {},
    secrets: [],
    artifacts: [],
    cache: null,
    network: false,
    image: null,
    limits: { memoryMb: 4096, processes: 1024, diskMb: 10_240 },
    concurrency: null,
  }]);
});

Deno.test("every key means what it says", () => {
  const { checks } = parseDefinition(`
checks:
  build: { run: make, on: [review, push, { cron: "30 4 * * 1-5" }] }
  unit/tests:
    run: [make, make test]
    shell: bash
    timeout: 90s
    needs: [build]
    on: [push, review]
    labels: [linux, arm64]
    env: { NO_COLOR: "1", LEVEL: 2, IS_CI: true }
    secrets: [DEPLOY_KEY]
    artifacts: [coverage/**]
    cache: { key: "deno-\${hash:deno.lock}", paths: [.cache/deno] }
    network: true
    image: docker.io/library/debian:13
    memory: 512MB
    processes: 64
    disk: 1GB
    concurrency: { group: deploys, cancel: true }
  release:
    run: ./release
    on: [{ push: { branches: [main, "release/*"] } }]
    concurrency: deploys
`);
  assert.deepEqual(checks.map(({ name }) => name), ["build", "unit/tests", "release"]);
  const [build, tests, release] = checks;
  assert.deepEqual(build?.on, { review: true, landing: false, push: [], cron: ["30 4 * * 1-5"] });
  assert.deepEqual(tests, {
    name: "unit/tests",
    commands: ["make", "make test"],
    shell: "bash",
    timeoutSeconds: 90,
    needs: ["build"],
    on: { review: true, landing: false, push: [], cron: [] },
    labels: ["linux", "arm64"],
    env: { NO_COLOR: "1", LEVEL: "2", IS_CI: "true" },
    secrets: ["DEPLOY_KEY"],
    artifacts: ["coverage/**"],
    cache: { key: "deno-${hash:deno.lock}", paths: [".cache/deno"] },
    network: true,
    image: "docker.io/library/debian:13",
    limits: { memoryMb: 512, processes: 64, diskMb: 1024 },
    concurrency: { group: "deploys", cancel: true },
  });
  assert.deepEqual(release?.on.push, ["main", "release/*"]);
  assert.deepEqual(release?.concurrency, { group: "deploys", cancel: false });
});

const one = (rest: string) => `checks:\n  a:\n    run: x\n    ${rest}\n`;

const MISTAKES: readonly (readonly [string, string])[] = [
  ["", 'f:1:1: must have the key "checks"'],
  ["[]", 'f:1:1: must have the key "checks"'],
  ["checks:\n  a: {}", "f:2:3: checks.a.run: is required"],
  ["check:\n  a: { run: x }", "f:1:1: checks: is required"],
  [
    one("timeuot: 5m"),
    'f:4:5: checks.a.timeuot: is not a field that this takes; did you mean "timeout"?',
  ],
  [one("timeout: 5"), "f:4:5: checks.a.timeout: must be a time such as 15m or 2h"],
  [one("timeout: 25h"), "f:4:5: checks.a.timeout: must be at most 24h"],
  [
    one("needs: [b]"),
    'f:4:13: checks.a.needs[0]: names "b", which is no check of this file; did you mean "a"?',
  ],
  [one("needs: [a]"), "f:4:5: checks.a.needs: is a circle: a needs a"],
  [
    one("on: [merge]"),
    'f:4:10: checks.a.on[0]: must be review, landing, push, { push: { branches: […] } } or { cron: "…" }',
  ],
  [
    one("on: [{ cron: often }]"),
    'f:4:12: checks.a.on[0].cron: must have the five fields of cron, such as "30 4 * * 1-5"',
  ],
  [
    one('on: [{ cron: "0 0 31 2 *" }]'),
    "f:4:12: checks.a.on[0].cron: names a time that never comes",
  ],
  [
    one("artifacts: [../x]"),
    "f:4:17: checks.a.artifacts[0]: must be a path below the checkout: without a / at its beginning, and without ..",
  ],
  [
    one("cache: { key: 'a-${hash:/etc/passwd}', paths: [b] }"),
    "f:4:14: checks.a.cache.key: has ${hash:/etc/passwd}, which names no file of the checkout",
  ],
  [
    one("env: { MUSTER_TOKEN: x }"),
    "f:4:12: checks.a.env.MUSTER_TOKEN: must not begin with MUSTER_, which muster sets itself",
  ],
  [
    one("env: { A: 1.10 }"),
    "f:4:12: checks.a.env.A: must be a text, in quotes if it looks like a number",
  ],
  [one("run: y"), 'f:4:5: "run" stands twice'],
  [one("memory: 5TB"), "f:4:5: checks.a.memory: must be a size such as 512MB or 4GB"],
  [
    "checks:\n  a: &x { run: b }\n  c: *x\n",
    "f:3:6: must not use aliases (*NAME): write the value again",
  ],
  ["checks:\n  __proto__: { run: b }\n", "f:2:3: has the key __proto__, which no check needs"],
  [
    "checks:\n  a b: { run: b }\n",
    "f:2:3: checks.a b: must be a name of at most 100 letters, digits and . _ / -",
  ],
  ["checks:\n  - a\n -b", "f:3:1: All mapping items must start at the same column"],
];

Deno.test("a mistake is told with its file, line, column and key", () => {
  for (const [text, expected] of MISTAKES) {
    const [first = "nothing"] = faultsOf(text);
    assert.ok(first.startsWith(expected), `${text}\n${first}\n${expected}`);
  }
});

Deno.test("all mistakes are told at once, in the order of the file", () => {
  const faults = faultsOf("checks:\n  a: { run: [] }\n  b:\n    run: x\n    shell: fish\n");
  assert.deepEqual(faults.map((fault) => fault.split(" ", 2)[1]), [
    "checks.a.run:",
    "checks.b.shell:",
  ]);
});

Deno.test("a need is met wherever the check runs", () => {
  const text = (on: string) =>
    `checks:\n  a: { run: x, on: [push] }\n  b:\n    run: x\n    needs: [a]\n    on: ${on}\n`;
  assert.deepEqual(faultsOf(text("[push]")), []);
  assert.deepEqual(faultsOf(text("[push, review]")), [
    'f:5:13: checks.b.needs[0]: names "a", which does not run on review as this check does',
  ]);
});

Deno.test("checks that need each other in a circle are told, and no other order is refused", () => {
  const graph = fc.array(fc.uniqueArray(fc.nat({ max: 7 }), { maxLength: 4 }), {
    minLength: 8,
    maxLength: 8,
  });
  fc.assert(fc.property(graph, (needs) => {
    const text = `checks:\n${
      needs.map((of, index) => `  c${index}: { run: x, needs: [${of.map((n) => `c${n}`)}] }\n`)
        .join("")
    }`;
    const reaches = (from: number, to: number, seen: Set<number>): boolean =>
      (needs[from] ?? []).some((next) =>
        next === to || !seen.has(next) && reaches(next, to, seen.add(next))
      );
    const hasCircle = needs.some((_, index) => reaches(index, index, new Set()));
    const faults = faultsOf(text);
    assert.equal(faults.length, hasCircle ? 1 : 0, text);
    if (hasCircle) assert.match(faults[0] ?? "", /is a circle: c\d needs c\d/);
  }));
});

Deno.test("no text makes it do anything but answer or tell faults", () => {
  const piece = fc.constantFrom(
    ..."checks:|\n  a:|\n    run: x|&a |*a |<<: |{|}|[|]|- |? |: |!!js |!!binary |%YAML 9|\n---\n|\t|\"|'|#|__proto__|constructor|on: [|cron: |\u0000|\ud800|\ufeff|>\n|\\|,|999999999999"
      .split("|"),
    "|",
  );
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(piece, { maxLength: 60 }).map((all) => all.join("")),
  );
  fc.assert(fc.property(text, (given) => void faultsOf(given)), { numRuns: 2000 });
});

Deno.test("a definition of any kind costs little", () => {
  const bombs = [
    "[".repeat(65_000),
    `${"{a: ".repeat(16_000)}`,
    Array.from({ length: 9000 }, (_, index) => `k${index}:`).join("\n"),
    Array.from({ length: 2000 }, (_, index) => " ".repeat(Math.min(index, 60)) + "- a:").join("\n"),
    `a: &a [x]\n${Array.from({ length: 60 }, (_, i) => `b${i}: &b${i} [*a,*a]`).join("\n")}`,
    "checks: ".repeat(8000),
    "x".repeat(70_000),
  ];
  for (const bomb of bombs) assert.ok(faultsOf(bomb).length > 0, bomb.slice(0, 20));
});

Deno.test("the key of a cache follows what the files hold", () => {
  const key = "deno-${hash:deno.lock}-${hash:a/b}";
  assert.deepEqual(hashedFiles(key), ["deno.lock", "a/b"]);
  assert.equal(keyOfCache(key, new Map([["deno.lock", "12"]])), "deno-12-absent");
});

Deno.test("editors get a schema that names every key", () => {
  const schema = JSON.parse(JSON.stringify(definitionJsonSchema()));
  const check = schema.properties.checks.additionalProperties;
  assert.equal(check.additionalProperties, false);
  assert.deepEqual(check.required, ["run"]);
  assert.ok(Object.keys(check.properties).includes("concurrency"));
});
