import assert from "node:assert/strict";
import { ASKED_TOOLS } from "../../../cli/clients/permissions.ts";
import { BY_OPERATOR } from "../../support/services.ts";
import { ownName } from "../../../mcp/names.ts";
import { selectTools } from "../../../mcp/tool_sets.ts";
import { withTools } from "./support.ts";
import { declaredTools } from "../../support/tool_steps.ts";

/** The contract's tools, with the arguments of the reference; sql_query has tests of its own. */
const CONTRACT: Readonly<Record<string, readonly string[]>> = {
  list_projects: ["slug"],
  get_project: ["slug"],
  browse_code: ["slug", "path"],
  read_file: ["slug", "filepath"],
  get_timeline: ["slug", "limit", "branch"],
  get_checkin: ["slug", "uuid"],
  search_code: ["slug", "query", "limit"],
  list_tickets: ["slug", "status", "limit"],
  get_ticket: ["slug", "uuid"],
  create_ticket: ["slug", "title", "body", "type", "severity", "priority"],
  update_ticket: ["slug", "uuid", "status", "comment"],
  list_wiki_pages: ["slug"],
  get_wiki_page: ["slug", "page_name"],
  list_branches: ["slug"],
  get_file_blame: ["slug", "filepath"],
  get_file_history: ["slug", "filepath", "limit"],
};

const COORDINATION = [
  "get_status",
  "list_channels",
  "register_agent",
  "send_message",
  "get_history",
];

const WRITING =
  /^(?:abandon|approve|claim|close|comment|commit|create|land|merge|release|report|request|rerun|restore|start|submit|take|update|write)_/;

/** Tools of the coordination service that change something. */
const SPEAKING = [
  ...["register_agent", "send_message", "send_direct", "post", "acknowledge_messages"],
  ...["ask_human", "withdraw_question", "answer_question"],
];

Deno.test("the operator sees the coordination tools first, then those of the contract and more", async () => {
  await withTools(async (test) => {
    const tools = await test.tools(test.operator);
    const names = tools.map(({ name }) => name);
    assert.deepEqual(names.slice(0, 5), COORDINATION);
    assert.deepEqual(names, [...new Set(names)]);
    for (const [name, inputs] of Object.entries(CONTRACT)) {
      const tool = tools.find((one) => one.name === name);
      assert.ok(tool !== undefined, name);
      const offered = Object.keys(tool.inputSchema.properties);
      assert.deepEqual(inputs.filter((one) => !offered.includes(one)), [], name);
    }
  });
});

Deno.test("every tool tells a model what it does, what each argument means, and what it changes", async () => {
  await withTools(async (test) => {
    for (const { name, description, inputSchema, annotations } of await test.tools(test.operator)) {
      assert.match(name, /^[a-z]+(?:_[a-z]+)*$/);
      assert.ok(description.length > 40 && description.length < 700, name);
      assert.doesNotMatch(JSON.stringify(inputSchema), /\$ref|\$defs/, name);
      assert.doesNotMatch(JSON.stringify(inputSchema), /"(?:allOf|not|propertyNames)":/, name);
      assert.doesNotMatch(JSON.stringify(inputSchema), /"(?:pattern|maxLength|maxItems)":/, name);
      const isWriting = WRITING.test(name) || SPEAKING.includes(name);
      assert.equal(annotations["readOnlyHint"], !isWriting, name);
    }
  });
});

Deno.test("what a model pays for all tools of an agent, in every request, is bounded", async () => {
  await withTools(async (test) => {
    const tools = (await test.tools()).map(({ name, description, inputSchema }) => (
      { name, description, inputSchema }
    ));
    // A token of a large model has about 4.3 characters of it.
    const { length } = JSON.stringify(tools);
    assert.ok(length < 34_650, `${length} characters`);
    const { tools: own } = await test.rpc("tools/list", {}) as { tools: typeof tools };
    const few = own.map(({ name, description, inputSchema }) => (
      { name, description, inputSchema }
    ));
    assert.ok(JSON.stringify(few).length < 16_000, `${JSON.stringify(few).length} characters`);
  });
});

Deno.test("a client lists the sets of tools that it asks for, and may call the others", async () => {
  await withTools(async (test) => {
    const all = (await test.tools(test.operator)).map(({ name }) => ownName(name));
    const sets = ["work", "talk", "code", "review", "workspace", "publish"];
    const selections = sets.map((set) => {
      const selection = selectTools(set);
      assert.ok(typeof selection !== "string");
      return selection;
    });
    assert.deepEqual(all.filter((name) => !selections.some((set) => set.has(name))), []);
    const called = { name: "list_claims", arguments: { nick: "caller" } };
    const asked = [
      { query: "?tools=code,review" },
      { headers: { "muster-tool-sets": " review, code ,code" } },
    ];
    for (const revision of ["2025-11-25", "2024-11-05"]) {
      for (const selection of asked) {
        const rpc = (method: string, params: object) =>
          test.rpc(method, params, test.caller, revision, selection);
        const { tools } = await rpc("tools/list", {}) as { tools: { name: string }[] };
        const names = tools.map(({ name }) => name);
        assert.ok(names.includes("get_diff") && names.includes("list_reviews"));
        assert.ok(!names.includes("claim_ticket"));
        const { isError } = await rpc("tools/call", called) as { isError: boolean };
        assert.equal(isError, false);
      }
    }
    const stateless = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const { tools } = await test.rpc(
      "tools/list",
      { _meta: stateless },
      test.caller,
      "2026-07-28",
      {
        query: "?tools=publish",
        headers: { "mcp-method": "tools/list" },
      },
    ) as { tools: { name: string }[] };
    const names = tools.map(({ name }) => name).sort();
    assert.deepEqual(names, ["create_release", "create_tag", "use_tool", "write_wiki_page"]);
  });
});

Deno.test("an agent lists the tools of daily work, and all others everything, unless they ask", async () => {
  await withTools(async (test) => {
    const namesFor = async (as: string, query = "") => {
      const { tools } = await test.rpc("tools/list", {}, as, "2025-06-18", { query }) as {
        tools: { name: string }[];
      };
      return tools.map(({ name }) => name);
    };
    const own = await namesFor(test.caller);
    assert.deepEqual(own, await namesFor(test.caller, "?tools=work"));
    assert.ok(own.length <= 19 && own.includes("start_work") && own.includes("use_tool"));
    assert.ok(!own.includes("get_history"));
    const every = await namesFor(test.operator);
    assert.deepEqual(every, await namesFor(test.operator, "?tools=all"));
    assert.ok(every.length > 50 && !every.includes("use_tool"));
  });
});

Deno.test("a model learns of the tools that are not listed, and calls them", async () => {
  await withTools(async (test) => {
    const { sets } = (await test.use("use_tool")).data;
    assert.ok(sets.review.includes("approve_review") && sets.code.includes("sql_query"));
    assert.ok(!sets.talk.includes("register_agent"));
    const { description, inputSchema } =
      (await test.use("use_tool", { name: "list_branches" })).data;
    assert.match(description, /branches/);
    assert.ok("limit" in inputSchema.properties);
    const through = (name: string, input: unknown) => ({ name, arguments: input });
    const called = async (given: object, more: object = {}) =>
      await test.rpc("tools/call", { name: "use_tool", arguments: given, ...more });
    const branches = await test.rpc("tools/call", through("list_branches", { slug: "demo" }));
    assert.deepEqual(await called(through("list_branches", { slug: "demo" })), branches);
    assert.deepEqual(await called(through("list_branches", '{"slug": "demo"}')), branches);
    const wrong = through("list_branches", { limitt: 1 });
    assert.match(
      await test.fail("use_tool", wrong),
      /^"limitt" is not an argument of get_branches/,
    );
    assert.match(await test.fail("use_tool", { name: "list_branch" }), /no tool "list_branch"/);
    const unknown = (as: string) => test.rpc("tools/call", through("zzz", {}), as);
    await assert.rejects(unknown(test.caller), /"zzz"; use_tool without a name names all/);
    await assert.rejects(unknown(test.operator), /"zzz"; tools\/list names all/);
    assert.match(await test.fail("use_tool", { name: "register_agent" }), /no tool/);
  });
});

Deno.test("what clients ask their users for cannot be called in another way", async () => {
  await withTools(async (test) => {
    for (const name of ASKED_TOOLS) {
      for (const input of [{}, "{}", { name }]) {
        const call = { name, arguments: input };
        assert.match(await test.fail("use_tool", call, test.operator), /Your user decides/, name);
        const twice = { name: "use_tool", arguments: call };
        assert.match(await test.fail("use_tool", twice, test.operator), /./, name);
      }
    }
  });
});

Deno.test("clients of 2026-07-28, whose header names the tool, call what is not listed", async () => {
  await withTools(async (test) => {
    const stateless = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const { isError, structuredContent } = await test.rpc(
      "tools/call",
      {
        name: "use_tool",
        arguments: { name: "list_branches", arguments: {} },
        _meta: stateless,
      },
      test.caller,
      "2026-07-28",
      { headers: { "mcp-method": "tools/call", "mcp-name": "use_tool" } },
    ) as { isError: boolean; structuredContent: object };
    assert.equal(isError, false);
    assert.ok("branches" in structuredContent);
  });
});

/** Tools of GitHub's server, and of the reference servers for files and Git. */
const FOREIGN = [
  ...["search_code", "list_branches", "list_tags", "list_releases", "get_commit", "list_commits"],
  ...["get_file_contents", "create_branch", "push_files", "get_tag", "get_me", "list_issues"],
  ...["read_file", "read_text_file", "write_file", "edit_file", "search_files", "list_directory"],
  ...["get_file_info", "move_file", "create_directory", "directory_tree", "git_status"],
];

Deno.test("an agent's tools have no name that those of well-known servers have", async () => {
  await withTools(async (test) => {
    const names = (await test.tools()).map(({ name }) => name);
    assert.deepEqual(names.filter((name) => FOREIGN.includes(name)), []);
    for (
      const name of ["search_code", "read_file", "list_branches", "list_tags", "list_releases"]
    ) {
      const input = { query: "x", path: "none.txt" };
      const { tool } = { tool: ownName(name) };
      assert.ok(names.includes(tool) && tool !== name);
      const call = (name: string) => test.rpc("tools/call", { name, arguments: input });
      assert.deepEqual(await call(name), await call(tool));
    }
  });
});

Deno.test("lists show agents one name for a thing", async () => {
  await withTools(async (test) => {
    const own = new Set(
      (await test.tools()).flatMap(({ inputSchema }) => Object.keys(inputSchema.properties)),
    );
    const others = ["uuid", "filepath", "file_path", "line_number", "review_id", "workspace_name"];
    assert.deepEqual(others.filter((name) => own.has(name)), []);
    assert.ok(["ticket", "workspace", "path", "review", "checkin"].every((name) => own.has(name)));
  });
});

Deno.test("arguments are taken by the names that others have for them", async () => {
  await withTools(async (test) => {
    const { data: { uuid, number } } = await test.use("create_ticket", {
      title: "Crash",
      description: "On an empty line",
    });
    const shown = (await test.use("get_ticket", { ticket: uuid })).data;
    assert.equal(shown.body, "On an empty line");
    for (
      const input of [
        { uuid },
        { id: uuid.slice(0, 8) },
        { ticket_id: `#${number}` },
        { ticket: number },
        { ticket: String(number) },
        { project: "demo", ticket_number: number },
      ]
    ) assert.deepEqual((await test.use("get_ticket", input)).data, shown, JSON.stringify(input));
    await test.use("claim_ticket", { ticket: number });
    await test.use("create_workspace", { workspace: "one", ticket: number });
    await test.use("commit_files", {
      name: "one",
      message: "Add a",
      files: [{ file_path: "a.txt", content: "one\n" }],
    });
    await test.use("commit_files", {
      workspace: "one",
      comment: "Change a",
      edits: [{ file: "a.txt", old_string: "one", new_string: "two" }],
    });
    for (const input of [{ path: "a.txt" }, { filepath: "a.txt" }, { filename: "a.txt" }]) {
      const { data } = await test.use("get_file", { ...input, ref: "workspace/one" });
      assert.equal(data.content, "two\n");
    }
    const { data: { review } } = await test.use("submit_work", {
      id: number,
      message: "Done",
      workspace_name: "one",
    });
    for (const input of [{ review }, { id: review }, { number: String(review) }]) {
      assert.equal((await test.use("get_review", input)).data.id, review);
    }
    const twice = await test.fail("get_ticket", { ticket: uuid, uuid });
    assert.match(twice, /^"uuid" is not an argument of get_ticket/);
    const { data } = await test.use("get_ticket", { ticket: null, uuid });
    assert.deepEqual(data.uuid, uuid);
  });
});

Deno.test("a set of tools that does not exist is refused with those that do", () => {
  for (const text of ["", "works", "work,", "x".repeat(10_000)]) {
    assert.match(
      String(selectTools(text)),
      /^There is no set of tools "[^"]{0,50}"; there are work/,
    );
  }
});

Deno.test("clients that need not ask go on asking for what is final, and for what agents may not do", async () => {
  await withTools(async (test) => {
    const own = new Set((await test.tools()).map(({ name }) => name));
    const asked = (await test.tools(test.operator)).filter(({ name, annotations }) =>
      annotations["destructiveHint"] === true || !own.has(ownName(name))
    );
    assert.deepEqual(asked.map(({ name }) => name).sort(), ASKED_TOOLS.toSorted());
  });
});

Deno.test("a test compares the answer of every tool for projects with its schema", async () => {
  const folder = new URL(".", import.meta.url);
  let tests = "";
  for await (const { name } of Deno.readDir(folder)) {
    if (name.endsWith("_test.ts")) tests += await Deno.readTextFile(new URL(name, folder));
  }
  await withTools(async (test) => {
    const tools = await test.tools(test.operator);
    const names = tools.slice(tools.findIndex(({ name }) => name === "list_projects"))
      .map(({ name }) => name).filter((name) => name !== "sql_query");
    assert.ok(names.length >= 45);
    // What is rendered as its operation answers has the tests of that operation.
    const declared = new Set((await declaredTools()).map(({ declared: { mcp } }) => mcp?.name));
    const untested = names.filter((name) => !tests.includes(`use("${name}"`));
    assert.deepEqual(untested.filter((name) => !declared.has(name)), []);
  });
});

Deno.test("tools/list has no tool that the caller may use in no project", async () => {
  await withTools(async (test) => {
    const { projects } = test.api.services.hosting;
    const namesOf = async (as: string) => (await test.tools(as)).map(({ name }) => name);
    const writer = await namesOf(test.caller);
    assert.ok(writer.includes("commit_files") && writer.includes("report_ci_status"));
    assert.ok(!writer.includes("register_agent"));
    const outsider = await namesOf(test.outsider);
    assert.ok(outsider.includes("list_projects") && !outsider.includes("get_file"));
    await projects.setMember("demo", "stranger-1", "read", BY_OPERATOR);
    const reader = await namesOf(test.outsider);
    assert.ok(reader.includes("get_file"));
    assert.deepEqual(reader.filter((name) => WRITING.test(name)), []);
    await projects.setMember("demo", "stranger-1", "write", BY_OPERATOR);
    assert.deepEqual(await namesOf(test.outsider), writer);
  });
});

Deno.test("a token with the scope read sees no writing tool, and cannot call one", async () => {
  await withTools(async (test) => {
    const token = await test.token({ owner: "caller", scopes: ["read"] });
    const names = (await test.tools(token)).map(({ name }) => name);
    assert.ok(names.includes("get_file") && !names.some((name) => WRITING.test(name)));
    const input = { title: "x", body: "" };
    assert.match(await test.fail("create_ticket", input, token), /no scope "write"/);
  });
});

Deno.test("a project token sees and uses the tools of its project alone", async () => {
  await withTools(async (test) => {
    const { projects } = test.api.services.hosting;
    const request = {
      slug: "second",
      name: "Second",
      description: "",
      visibility: "private",
    } as const;
    await projects.create(request, BY_OPERATOR);
    const token = await test.token({ project: "demo", scopes: ["read", "write"] });
    const names = (await test.tools(token)).map(({ name }) => name);
    assert.ok(names.includes("create_ticket") && !names.includes("get_history"));
    assert.equal((await test.use("get_project", {}, token)).data.slug, "demo");
    assert.match(await test.fail("get_project", { slug: "second" }, token), /project/i);
    assert.match(await test.fail("get_history", { channel: "#a" }, token), /repositories alone/);
    const reporter = await test.token({ project: "demo", scopes: ["status:write"] });
    const few = (await test.tools(reporter)).map(({ name }) => name);
    assert.deepEqual(few, ["report_ci_status"]);
  });
});

Deno.test("older revisions get the answers as text alone, with hashes and times whole", async () => {
  await withTools(async (test) => {
    const { data: made } = await test.use("create_ticket", { title: "One" });
    const params = { name: "get_ticket", arguments: { ticket: made.uuid } };
    for (const revision of ["2024-11-05", "2025-03-26"]) {
      const result = await test.rpc("tools/call", params, test.caller, revision);
      assert.deepEqual(Object.keys(Object(result)).toSorted(), ["content", "isError"]);
      const { content: [{ text }] } = result as { content: [{ text: string }] };
      const { uuid, created } = JSON.parse(text);
      assert.deepEqual([uuid, created], [made.uuid, made.created]);
    }
  });
});

/** The bounds of the numbers that an argument may be, in one of its forms. */
function numbersOf(schema: object): number[] {
  const { type, minimum, maximum, anyOf = [] } = schema as {
    readonly type?: string;
    readonly minimum?: number;
    readonly maximum?: number;
    readonly anyOf?: readonly object[];
  };
  const own = type === "integer" || type === "number"
    ? [minimum === undefined ? [] : minimum - 1, maximum === undefined ? [] : maximum + 1].flat()
    : [];
  return [...own, ...anyOf.flatMap(numbersOf)].filter(Number.isSafeInteger);
}

Deno.test("a number out of range is refused with the same words as a text that says it, by every tool", async () => {
  await withTools(async (test) => {
    const differing: string[] = [];
    for (const { name, inputSchema } of await test.tools(test.operator)) {
      const { required = [], properties } = inputSchema;
      const others = Object.fromEntries(
        required.map((key) => [key, key === "slug" ? "demo" : "x1"]),
      );
      for (const [argument, schema] of Object.entries(properties)) {
        for (const number of numbersOf(schema)) {
          const input = (value: unknown) => ({ ...others, [argument]: value });
          const said = await test.fail(name, input(number), test.operator);
          const written = await test.fail(name, input(String(number)), test.operator);
          if (said !== written) differing.push(`${name} ${argument}: ${said} / ${written}`);
        }
      }
    }
    assert.deepEqual(differing, []);
    const asked = { text: "Deploy?", deadline: "2" };
    assert.match(await test.fail("ask_human", asked), /"deadline" must be at least \d+ seconds/);
  });
});
