import assert from "node:assert/strict";
import { parse } from "smol-toml";
import {
  CLIENT_NAMES,
  clientOf,
  type Launch,
  type Surroundings,
} from "../../../cli/clients/definitions.ts";
import { parseJson } from "../../../cli/clients/config_text.ts";
import { ASKED_TOOLS } from "../../../cli/clients/permissions.ts";

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
  return client === "codex" ? JSON.parse(JSON.stringify(parse(text))) : parseJson(text);
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
    case "vscode":
      return { servers: { muster: typed } };
    default:
      return { mcpServers: { muster: typed } };
  }
}

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
 * https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp, https://cursor.com/docs/mcp, https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
 */
const FILES: Readonly<Record<string, readonly [user: string, project: string]>> = {
  claude: ["/home/ann/.claude.json", "/work/.mcp.json"],
  codex: ["/home/ann/.codex/config.toml", "/work/.codex/config.toml"],
  gemini: ["/home/ann/.gemini/settings.json", "/work/.gemini/settings.json"],
  cursor: ["/home/ann/.cursor/mcp.json", "/work/.cursor/mcp.json"],
  qwen: ["/home/ann/.qwen/settings.json", "/work/.qwen/settings.json"],
  vscode: ["/home/ann/.config/Code/User/mcp.json", "/work/.vscode/mcp.json"],
};

const HERE: Surroundings = {
  home: "/home/ann",
  folder: "/work",
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
    assert.ok(permissions !== null);
    const { file, allow, withdraw } = permissions;
    assert.deepEqual([file("user", HERE), file("project", HERE)], expected);
    const text = allow("my server")("");
    assert.deepEqual(parseJson(text), {
      permissions: {
        allow: ["mcp__my_server"],
        ask: ASKED_TOOLS.map((tool) => `mcp__my_server__${tool}`),
      },
    });
    assert.equal(allow("my server")(text), text);
    assert.deepEqual(parseJson(withdraw("my server")(text)), {});
  }
});

Deno.test("folders that the clients' own variables name are used", () => {
  const environment = { CLAUDE_CONFIG_DIR: "/c", CODEX_HOME: "/x", XDG_CONFIG_HOME: "/g" };
  const there = { ...HERE, environment };
  const files = ["claude", "codex", "vscode"].map((name) => clientOf(name).file("user", there));
  assert.deepEqual(files, ["/c/.claude.json", "/x/config.toml", "/g/Code/User/mcp.json"]);
  assert.equal(clientOf("claude").hooks?.file("user", there), "/c/settings.json");
  assert.equal(clientOf("claude").hooks?.file("user", HERE), "/home/ann/.claude/settings.json");
  const mac = clientOf("vscode").file("user", { ...HERE, system: "darwin" });
  assert.equal(mac, "/home/ann/Library/Application Support/Code/User/mcp.json");
});
