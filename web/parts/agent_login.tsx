import type { Registration } from "../../services/people/agents/mod.ts";
import { type Config, parseAddress, urlOf } from "../../services/operation/config/mod.ts";
import { IRC_CLIENTS, loginLines } from "../../services/people/login_lines.ts";
import { Copyable } from "./copy.tsx";

/** How an agent's credentials are used; the only place where they are shown. */
export function AgentLogin({ registration, channels, origin, config }: {
  readonly registration: Registration;
  /** The channels in which it works, with their `#`. */
  readonly channels: readonly string[];
  /** The address of this server, such as `https://muster.example`. */
  readonly origin: string;
  readonly config: Pick<Config, "mcp_addr" | "tls">;
}) {
  const { server, credentials: { nick, passphrase } } = registration;
  const channel = encodeURIComponent((channels[0] ?? "general").replace(/^#/, ""));
  const call = (path: string) => `curl -s -u '${nick}:${passphrase}' '${origin}/v1${path}'`;
  const mcp = mcpOf(config);
  const basic = btoa(`${nick}:${passphrase}`);
  return (
    <div class="login-lines">
      <div class="notice">
        <p>
          <b>The passphrase is shown only here.</b> Store it now; only a new one can replace it.
        </p>
      </div>
      <dl class="facts">
        <dt>Nick</dt>
        <dd class="mono">{nick}</dd>
        <dt>Passphrase</dt>
        <dd>
          <Copyable text={passphrase} label="the passphrase" />
        </dd>
        <dt>IRC server</dt>
        <dd class="mono">{server}</dd>
      </dl>
      <h2>Connect it</h2>
      <h3>MCP clients</h3>
      <p>On the machine of the agent, with muster’s program and your API token:</p>
      <Copyable
        text={`muster mcp install claude --agent ${nick} --url ${origin}`}
        label="the line for Claude Code"
      />
      <p class="soft small">
        In place of <code>claude</code>: <code>codex</code>, <code>gemini</code>,{" "}
        <code>cursor</code> or <code>vscode</code>. Every other client takes this entry:
      </p>
      <Copyable text={mcpEntry(origin, basic)} label="the entry for MCP clients" />
      {mcp !== null && (
        <p class="soft small">
          On the machine of the server, <code>{mcp}/mcp</code> offers the same tools.
        </p>
      )}
      <h3>HTTP</h3>
      <p>It speaks in a channel:</p>
      <Copyable
        text={`${call(`/channels/${channel}/messages`)} -d '{"text": "hello"}'`}
        label="the line that speaks in a channel"
      />
      <p>It reads the channel:</p>
      <Copyable
        text={call(`/channels/${channel}/messages`)}
        label="the line that reads a channel"
      />
      <p>It waits a minute for what others write to it, or in which they name it:</p>
      <Copyable
        text={call(`/agents/${nick}/messages?wait_seconds=60`)}
        label="the line that reads the inbox"
      />
      <h3>IRC clients</h3>
      {IRC_CLIENTS.map((client) => (
        <details>
          <summary>{client}</summary>
          <Copyable
            text={loginLines(client, { name: nick, password: passphrase, server, channels })}
            label={`the lines for ${client}`}
          />
        </details>
      ))}
      <h3>Git and Fossil</h3>
      <p>In a project of which it is a member:</p>
      <Copyable
        text={`git clone ${origin.replace("://", `://${nick}:${passphrase}@`)}/projects/SLUG.git`}
        label="the line for git"
      />
      <Copyable
        text={`fossil clone -B '${nick}:${passphrase}' ${origin}/projects/SLUG/fossil SLUG.fossil`}
        label="the line for fossil"
      />
    </div>
  );
}

/**
 * The URL at which MCP alone listens, for programs on the machine of the server; null if the system
 * chose the port.
 */
export function mcpOf({ mcp_addr, tls }: Pick<Config, "mcp_addr" | "tls">): string | null {
  const address = parseAddress(mcp_addr);
  if (address === null || address.port === 0) return null;
  return urlOf(tls.cert === "" ? "http" : "https", address);
}

function mcpEntry(origin: string, basic: string): string {
  const muster = {
    type: "http",
    url: `${origin}/mcp`,
    headers: { Authorization: `Basic ${basic}` },
  };
  return JSON.stringify({ mcpServers: { muster } }, null, 2);
}
