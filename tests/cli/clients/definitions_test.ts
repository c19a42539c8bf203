import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { parse } from "smol-toml";
import type { Launch, Surroundings } from "../../../cli/clients/client.ts";
import { CLIENT_NAMES } from "../../../cli/clients/client.ts";
import { clientOf } from "../../../cli/clients/definitions.ts";
import { parseJson } from "../../../cli/clients/config_text.ts";
import { parseYaml } from "../../../cli/clients/yaml_text.ts";
import { ALLOWED_TOOLS, ASKED_TOOLS } from "../../../cli/clients/permissions.ts";

const MCP = "http://127.0.0.1:8081/mcp";

const LAUNCH: Launch = {
  kind: "stdio",
  command: "/bin/muster",
  args: ["mcp"],
  url: MCP,
  token: { kind: "file", path: "/home/ann/token" },
};

/** What a client's file contains once the launch is added to an empty one. */
function written(client: string, launch: Launch): unknown {
  const text = clientOf(client).add("muster", launch)("");
  if (client === "codex") return JSON.parse(JSON.stringify(parse(text)));
  return client === "goose" ? parseYaml(text) : parseJson(text);
}

/** The documented entry of a client that starts a program. */
function stdioEntry(client: string): unknown {
  const run = {
    command: "/bin/muster",
    args: ["mcp"],
    env: { MUSTER_URL: MCP, MUSTER_TOKEN_FILE: "/home/ann/token" },
  };
  const typed = { type: "stdio", command: run.command, args: run.args, env: run.env };
  switch (client) {
    case "codex":
      return { mcp_servers: { muster: run } };
    case "gemini":
    case "qwen":
      return { mcpServers: { muster: run } };
    case "copilot":
      return { mcpServers: { muster: { ...typed, type: "local", tools: ["*"] } } };
    case "opencode": {
      const command = [run.command, ...run.args];
      return { mcp: { muster: { type: "local", command, environment: run.env } } };
    }
    case "goose": {
      const { command: cmd, args, env: envs } = run;
      return { extensions: { muster: { ...GOOSE, type: "stdio", cmd, args, envs, env_keys: [] } } };
    }
    case "vscode":
      return { servers: { muster: typed } };
    default:
      return { mcpServers: { muster: typed } };
  }
}

const GOOSE = {
  name: "muster",
  enabled: true,
  description: "Work with other agents",
  timeout: 300,
};

const INPUT = {
  type: "promptString",
  id: "muster-token",
  description: "The muster token of your agent",
  password: true,
};

/** The documented entries without a secret: of a URL, and of a program in a project's file. */
const SHARED: Readonly<Record<string, (mcp: string) => readonly unknown[]>> = {
  claude: (mcp) => [
    {
      mcpServers: {
        muster: { type: "http", url: mcp, headers: { Authorization: "Bearer ${MUSTER_TOKEN}" } },
      },
    },
    {
      mcpServers: {
        muster: {
          type: "stdio",
          command: "muster",
          args: ["mcp"],
          env: { MUSTER_URL: mcp, MUSTER_TOKEN: "${MUSTER_TOKEN}" },
        },
      },
    },
  ],
  codex: (mcp) => [
    { mcp_servers: { muster: { url: mcp, bearer_token_env_var: "MUSTER_TOKEN" } } },
    {
      mcp_servers: {
        muster: {
          command: "muster",
          args: ["mcp"],
          env_vars: ["MUSTER_TOKEN"],
          env: { MUSTER_URL: mcp },
        },
      },
    },
  ],
  gemini: (mcp) => [
    {
      mcpServers: {
        muster: { type: "http", url: mcp, headers: { Authorization: "Bearer ${MUSTER_TOKEN}" } },
      },
    },
    {
      mcpServers: {
        muster: {
          command: "muster",
          args: ["mcp"],
          env: { MUSTER_URL: mcp, MUSTER_TOKEN: "${MUSTER_TOKEN}" },
        },
      },
    },
  ],
  qwen: (mcp) => [
    {
      mcpServers: {
        muster: { httpUrl: mcp, headers: { Authorization: "Bearer ${MUSTER_TOKEN}" } },
      },
    },
    {
      mcpServers: {
        muster: {
          command: "muster",
          args: ["mcp"],
          env: { MUSTER_URL: mcp, MUSTER_TOKEN: "${MUSTER_TOKEN}" },
        },
      },
    },
  ],
  opencode: (mcp) => [
    {
      mcp: {
        muster: {
          type: "remote",
          url: mcp,
          headers: { Authorization: "Bearer {env:MUSTER_TOKEN}" },
          oauth: false,
        },
      },
    },
    {
      mcp: {
        muster: {
          type: "local",
          command: ["muster", "mcp"],
          environment: { MUSTER_URL: mcp, MUSTER_TOKEN: "{env:MUSTER_TOKEN}" },
        },
      },
    },
  ],
  copilot: (mcp) => [
    {
      mcpServers: {
        muster: {
          type: "http",
          url: mcp,
          headers: { Authorization: "Bearer ${MUSTER_TOKEN}" },
          tools: ["*"],
        },
      },
    },
    {
      mcpServers: {
        muster: {
          type: "local",
          command: "muster",
          args: ["mcp"],
          env: { MUSTER_URL: mcp, MUSTER_TOKEN: "${MUSTER_TOKEN}" },
          tools: ["*"],
        },
      },
    },
  ],
  goose: (mcp) => [
    {
      extensions: {
        muster: {
          ...GOOSE,
          type: "streamable_http",
          uri: mcp,
          headers: { Authorization: "Bearer ${MUSTER_TOKEN}" },
          envs: {},
          env_keys: ["MUSTER_TOKEN"],
        },
      },
    },
    {
      extensions: {
        muster: {
          ...GOOSE,
          type: "stdio",
          cmd: "muster",
          args: ["mcp"],
          envs: { MUSTER_URL: mcp },
          env_keys: ["MUSTER_TOKEN"],
        },
      },
    },
  ],
  cursor: (mcp) => [
    {
      mcpServers: {
        muster: { url: mcp, headers: { Authorization: "Bearer ${env:MUSTER_TOKEN}" } },
      },
    },
    {
      mcpServers: {
        muster: {
          type: "stdio",
          command: "muster",
          args: ["mcp"],
          env: { MUSTER_URL: mcp, MUSTER_TOKEN: "${env:MUSTER_TOKEN}" },
        },
      },
    },
  ],
  vscode: (mcp) => [
    {
      servers: {
        muster: {
          type: "http",
          url: mcp,
          headers: { Authorization: "Bearer ${input:muster-token}" },
        },
      },
      inputs: [INPUT],
    },
    {
      servers: {
        muster: {
          type: "stdio",
          command: "muster",
          args: ["mcp"],
          env: { MUSTER_URL: mcp, MUSTER_TOKEN: "${input:muster-token}" },
        },
      },
      inputs: [INPUT],
    },
  ],
};

/**
 * The documented files: https://code.claude.com/docs/en/mcp,
 * https://developers.openai.com/codex/config-reference, https://geminicli.com/docs/tools/mcp-server,
 * https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp, https://cursor.com/docs/mcp,
 * https://code.visualstudio.com/docs/copilot/reference/mcp-configuration,
 * https://opencode.ai/v1/docs/mcp-servers, https://goose-docs.ai/docs/guides/config-files,
 * https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers
 */
const FILES: Readonly<Record<string, readonly [user: string, project: string | null]>> = {
  claude: ["/home/ann/.claude.json", "/work/.mcp.json"],
  codex: ["/home/ann/.codex/config.toml", "/work/.codex/config.toml"],
  gemini: ["/home/ann/.gemini/settings.json", "/work/.gemini/settings.json"],
  cursor: ["/home/ann/.cursor/mcp.json", "/work/.cursor/mcp.json"],
  qwen: ["/home/ann/.qwen/settings.json", "/work/.qwen/settings.json"],
  vscode: ["/home/ann/.config/Code/User/mcp.json", "/work/.vscode/mcp.json"],
  opencode: ["/home/ann/.config/opencode/opencode.json", "/work/opencode.json"],
  copilot: ["/home/ann/.copilot/mcp-config.json", "/work/.github/mcp.json"],
  goose: ["/home/ann/.config/goose/config.yaml", null],
};

const HERE: Surroundings = {
  home: "/home/ann",
  folder: "/work",
  repository: "/work",
  environment: {},
  system: "linux",
};

for (const client of CLIENT_NAMES) {
  Deno.test(`${client} gets its documented entries in its documented files`, () => {
    const { file, add, remove } = clientOf(client);
    assert.deepEqual([file("user", HERE), file("project", HERE)], FILES[client]);
    assert.deepEqual(written(client, LAUNCH), stdioEntry(client));
    const [http, shared] = SHARED[client]?.(MCP) ?? [];
    assert.deepEqual(written(client, { kind: "http", url: MCP }), http);
    const launch: Launch = { ...LAUNCH, command: "muster", token: { kind: "environment" } };
    assert.deepEqual(written(client, launch), shared);

    const text = add("muster", LAUNCH)("");
    assert.equal(add("muster", LAUNCH)(text), text);
    const moved = add("muster", { kind: "http", url: MCP })(text);
    assert.equal(add("muster", LAUNCH)(moved).includes("MUSTER_TOKEN_FILE"), true);
    assert.doesNotMatch(remove("muster")(moved), /muster/);
    assert.equal(remove("muster")("").trim(), "");
  });
}

Deno.test("clients with lists of permissions are allowed the server, and asked for four tools", () => {
  const files = {
    claude: ["/home/ann/.claude/settings.json", "/work/.claude/settings.json"],
    qwen: ["/home/ann/.qwen/settings.json", "/work/.qwen/settings.json"],
  };
  for (const [client, expected] of Object.entries(files)) {
    const { permissions } = clientOf(client);
    assert.ok(typeof permissions !== "string");
    const { file, allow, withdraw } = permissions;
    assert.deepEqual([file("user", HERE, "x"), file("project", HERE, "x")], expected);
    const text = allow("my server", HERE)("");
    assert.deepEqual(parseJson(text), {
      permissions: {
        allow: ["mcp__my_server"],
        ask: ASKED_TOOLS.map((tool) => `mcp__my_server__${tool}`),
      },
    });
    assert.equal(allow("my server", HERE)(text), text);
    assert.deepEqual(parseJson(withdraw("my server")(text)), {});
  }
});

/** What a client does with a tool of the entry "muster", by what `--allow` wrote. */
const JUDGES: Readonly<Record<string, (text: string, tool: string) => string>> = {
  gemini: (text, tool) => {
    const rules = parse(text)["rule"] as readonly Record<string, unknown>[];
    const [first] = rules
      .filter(({ toolName }) =>
        toolName === "*" || Array.isArray(toolName) && toolName.includes(tool)
      )
      .toSorted((a, b) => Number(b["priority"]) - Number(a["priority"]));
    return String(first?.["decision"]);
  },
  cursor: (text, tool) => {
    const list = parseJson(text)["mcpAllowlist"] as readonly string[];
    return list.includes(`muster:${tool}`) ? "allow" : "ask";
  },
  opencode: (text, tool) => {
    const rules = Object.entries(parseJson(text)["permission"] as Record<string, string>);
    const last = rules.findLast(([pattern]) =>
      pattern === `muster_${tool}` || pattern === "muster_*"
    );
    return last?.[1] ?? "none";
  },
  copilot: (text, tool) => {
    const { locations } = parseJson(text) as {
      locations: Record<string, { tool_approvals: unknown[] }>;
    };
    const wanted = { kind: "mcp", serverName: "muster", toolName: tool };
    const approvals = locations[HERE.repository]?.tool_approvals ?? [];
    return approvals.some((one) => isDeepStrictEqual(one, wanted)) ? "allow" : "ask";
  },
  goose: (text, tool) => {
    const { user } = parseYaml(text) as { user: Record<string, readonly string[]> };
    assert.deepEqual(Object.keys(user), ["always_allow", "ask_before", "never_allow"]);
    const list = Object.keys(user).find((name) => user[name]?.includes(`muster__${tool}`));
    return list === "always_allow" ? "allow" : "ask";
  },
};

/** Files with permissions as people have them. */
const WITH_OTHERS: Readonly<Record<string, string>> = {
  gemini: "",
  cursor: '{\n  // mine\n  "mcpAllowlist": ["docs:read"],\n  "terminalAllowlist": ["git"]\n}\n',
  opencode: '{\n  "permission": { "muster_answer_question": "allow", "*": "ask" }\n}\n',
  copilot: '{"locations": {"/other": {"tool_approvals": [{"kind": "write"}]}}}\n',
  goose: "smart_approve:\n  always_allow: []\n  ask_before:\n  - muster__post\n  never_allow: []\n",
};

for (const [client, judge] of Object.entries(JUDGES)) {
  Deno.test(`${client} asks for four tools and uses the others, with --allow`, () => {
    const { permissions } = clientOf(client);
    assert.ok(typeof permissions !== "string");
    const { allow, withdraw } = permissions;
    for (const before of ["", WITH_OTHERS[client] ?? ""]) {
      const text = allow("muster", HERE)(before);
      for (const tool of ALLOWED_TOOLS) assert.match(judge(text, tool), /^allow$/, tool);
      for (const tool of ASKED_TOOLS) assert.match(judge(text, tool), /^ask/, tool);
      assert.equal(allow("muster", HERE)(text), text);
      const without = withdraw("muster")(text);
      assert.doesNotMatch(without.replace(/smart_approve:[^]*/, ""), /muster/);
      assert.equal(withdraw("muster")(without), without);
    }
  });
}

Deno.test("what muster did not write stays in the files of permissions", () => {
  const edited = (client: string) => {
    const { permissions } = clientOf(client);
    assert.ok(typeof permissions !== "string");
    const text = WITH_OTHERS[client] ?? "";
    return permissions.withdraw("muster")(permissions.allow("muster", HERE)(text));
  };
  assert.match(edited("cursor"), /^\{\n {2}\/\/ mine\n/);
  assert.deepEqual(parseJson(edited("cursor")), parseJson(WITH_OTHERS["cursor"] ?? ""));
  assert.deepEqual(parseJson(edited("opencode")), { permission: { "*": "ask" } });
  const { locations } = parseJson(edited("copilot")) as { locations: Record<string, unknown> };
  assert.deepEqual(locations["/other"], { tool_approvals: [{ kind: "write" }] });
  assert.ok(edited("goose").startsWith(WITH_OTHERS["goose"] ?? "none"));
  const { permissions } = clientOf("gemini");
  assert.ok(typeof permissions !== "string");
  const own = '[[rule]]\ntoolName = "x"\ndecision = "deny"\npriority = 1\n';
  assert.throws(() => permissions.allow("muster", HERE)(own), { name: "Unreadable" });
});

Deno.test("permissions are written nowhere where a client would not read them", () => {
  const places = Object.fromEntries(
    CLIENT_NAMES.map((name) => {
      const { permissions } = clientOf(name);
      if (typeof permissions === "string") return [name, permissions];
      return [name, permissions.file("project", HERE, "muster") !== null];
    }),
  );
  assert.deepEqual(places, {
    claude: true,
    codex: true,
    gemini: false,
    cursor: true,
    vscode: "Visual Studio Code has no file for permissions: allow each tool in its dialog",
    opencode: true,
    copilot: false,
    qwen: true,
    goose: false,
  });
});

Deno.test("folders that the clients' own variables name are used", () => {
  const environment = {
    CLAUDE_CONFIG_DIR: "/c",
    CODEX_HOME: "/x",
    COPILOT_HOME: "/o",
    GOOSE_PATH_ROOT: "/r",
    XDG_CONFIG_HOME: "/g",
  };
  const there = { ...HERE, environment };
  const fileOf = (name: string) => clientOf(name).file("user", there);
  assert.deepEqual(["claude", "codex", "vscode", "opencode", "copilot", "goose"].map(fileOf), [
    "/c/.claude.json",
    "/x/config.toml",
    "/g/Code/User/mcp.json",
    "/g/opencode/opencode.json",
    "/o/mcp-config.json",
    "/r/config/config.yaml",
  ]);
  assert.equal(clientOf("claude").hooks?.file("user", there), "/c/settings.json");
  assert.equal(clientOf("claude").hooks?.file("user", HERE), "/home/ann/.claude/settings.json");
  const mac = clientOf("vscode").file("user", { ...HERE, system: "darwin" });
  assert.equal(mac, "/home/ann/Library/Application Support/Code/User/mcp.json");
});
