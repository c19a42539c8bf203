import { z } from "zod";
import { channelName, isNick, NICK_PATTERN } from "../../engines/irc/mod.ts";
import { configuredPricesSchema } from "../../models/ledger/schemas.ts";
import { configuredBackendsSchema } from "../../models/llm/schemas.ts";
import { otlpSchema } from "../telemetry/schemas.ts";
import { CONSOLE, isPostgresUrl, parseAddress } from "./address.ts";

/** A `host:port` that may be empty, which turns the listener off. */
const optionalAddress = z.string().refine((text) => text === "" || parseAddress(text) !== null, {
  error: 'must be "host:port", ":port" for every interface, or ""',
});

const address = z.string().refine((text) => parseAddress(text) !== null, {
  error: 'must be "host:port", or ":port" for every interface',
});

const count = z.int().min(0);
const positive = z.int().min(1);

const channel = z.string().refine((text) => channelName(text) !== null, {
  error: "must be a channel name of 2 to 80 characters without space, comma or control character",
});

const nick = z.string().regex(NICK_PATTERN, {
  error: "must be an IRC nick of 1 to 64 characters",
});

/** Keys of `database`. */
const databaseKeys = z.strictObject({
  url: z.string().refine((text) => text === "" || isPostgresUrl(text), {
    error: 'must be a URL such as "postgres://muster@db.example.com/muster", or ""',
  }).default(""),
  password_file: z.string().default(""),
});

/** Finds what contradicts itself. */
function checkDatabase(
  { url, password_file: file }: z.infer<typeof databaseKeys>,
): { readonly path: readonly string[]; readonly message: string }[] {
  if (file === "") return [];
  const path = ["database", "password_file"];
  if (url === "") return [{ path, message: "needs database.url" }];
  if (!isPostgresUrl(url) || new URL(url).password === "") return [];
  return [{ path, message: 'must be "" beside a password in database.url' }];
}

/** Keys of `node`. */
const nodeKeys = z.strictObject({
  name: z.string().regex(/^(?:[a-z][a-z0-9-]{0,31})?$/, {
    error: 'must be 1 to 32 lower-case letters, digits and hyphens, or ""',
  }).default(""),
  url: z.string().regex(/^(?:https?:\/\/[^\s/?#]+)?$/, {
    error: 'must be a URL without a path such as "http://10.0.0.5:8080", or ""',
  }).default(""),
});

/** The keys that decide whether a server can be one of several. */
interface NodeConfig {
  readonly node: z.infer<typeof nodeKeys>;
  readonly database: { readonly url: string };
  readonly irc: { readonly mode: string; readonly history: { readonly persist: boolean } };
  readonly limits: { readonly idle_seconds: number };
}

/** A node keeps idle connections for at least so many seconds: others use them for up to five. */
const LEAST_IDLE_SECONDS = 10;

/** Finds what keeps a server from being one of several. */
function checkNode(
  { node, database, irc, limits }: NodeConfig,
): { readonly path: readonly string[]; readonly message: string }[] {
  if (node.name === "") {
    return node.url === "" ? [] : [{ path: ["node", "url"], message: "needs node.name" }];
  }
  const path = ["node", "name"];
  const needs = (isMet: boolean, message: string) => isMet ? [] : [{ path, message }];
  const isShort = limits.idle_seconds < LEAST_IDLE_SECONDS;
  return [
    ...isShort
      ? [{
        path: ["limits", "idle_seconds"],
        message: `must be at least ${LEAST_IDLE_SECONDS} on a node: others keep connections to it`,
      }]
      : [],
    ...needs(!node.name.endsWith(CONSOLE), `must not end in "${CONSOLE}"`),
    ...needs(node.url !== "", "needs node.url, at which other nodes reach this one"),
    ...needs(database.url !== "", "needs database.url: nodes cannot share a SQLite file"),
    ...needs(irc.mode === "external", 'needs "irc.mode: external": nodes share an IRC network'),
    ...needs(irc.history.persist, "needs irc.history.persist: nodes share inboxes"),
  ];
}

const secret = { text: z.string().default(""), file: z.string().default("") };

const serviceNick = z.string().refine(isNick, { error: "must be an IRC nick" });

/** The HTTP API of Ergo: `host:port`, or a URL without a path. */
const apiAddress = z.string().refine(
  (text) => text === "" || parseAddress(text) !== null || /^https?:\/\/[^\s/]+\/?$/.test(text),
  { error: 'must be "host:port", or a URL such as "https://irc.example.com:8089"' },
);

/** Keys of `irc` that apply if its mode is `external`. */
const networkKeys = {
  admins: z.array(z.string()).default([]),
  addr: z.string().refine((text) => text === "" || /^[^:]|^\[/.test(text), {
    error: 'must be "host:port"',
  }).refine((text) => text === "" || parseAddress(text) !== null, {
    error: 'must be "host:port"',
  }).default(""),
  tls: z.strictObject({
    enabled: z.boolean().default(false),
    ca: z.string().default(""),
    server_name: z.string().default(""),
  }).prefault({}),
  ergo: z.strictObject({
    api_addr: apiAddress.default(""),
    api_token: secret.text,
    api_token_file: secret.file,
  }).prefault({}),
  services: z.strictObject({
    kind: z.enum(["", "atheme", "anope"], { error: 'must be "atheme", "anope" or ""' }).default(""),
    account: z.string().default(""),
    password: secret.text,
    password_file: secret.file,
    oper: z.string().default(""),
    oper_password: secret.text,
    oper_password_file: secret.file,
    nickserv: serviceNick.default("NickServ"),
    chanserv: serviceNick.default("ChanServ"),
  }).prefault({}),
};

/** The keys that decide whether a network can be used. */
interface NetworkConfig {
  readonly irc: { readonly mode: string } & z.infer<z.ZodObject<typeof networkKeys>>;
  readonly bridge: {
    readonly account: string;
    readonly password: string;
    readonly password_file: string;
  };
}

/** A missing or superfluous key, by its path. */
interface NetworkProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** Finds what keeps a configuration from being used with an external network. */
function checkNetwork({ irc, bridge }: NetworkConfig): NetworkProblem[] {
  const problems: NetworkProblem[] = [];
  const demand = (holds: boolean, path: string, message: string) => {
    if (!holds) problems.push({ path: path.split("."), message });
  };
  const { mode, addr, admins, ergo, services } = irc;
  const given = (text: string, file: string) => text !== "" || file !== "";
  const once = (text: string, file: string, path: string) =>
    demand(text === "" || file === "", path, "is given twice, here and in a file");
  once(ergo.api_token, ergo.api_token_file, "irc.ergo.api_token");
  once(services.password, services.password_file, "irc.services.password");
  once(services.oper_password, services.oper_password_file, "irc.services.oper_password");
  once(bridge.password, bridge.password_file, "bridge.password");
  if (mode !== "external") {
    demand(addr === "", "irc.addr", 'needs "irc.mode: external"');
    demand(admins.length === 0, "irc.admins", 'needs "irc.mode: external"');
    return problems;
  }
  demand(addr !== "", "irc.addr", 'is needed where "irc.mode" is "external"');
  const kinds = Number(ergo.api_addr !== "") + Number(services.kind !== "");
  demand(kinds > 0, "irc.services.kind", 'is needed, or "irc.ergo.api_addr" where it is Ergo');
  demand(kinds < 2, "irc.services.kind", 'must be "" where "irc.ergo.api_addr" is given');
  demand(
    ergo.api_addr === "" || given(ergo.api_token, ergo.api_token_file),
    "irc.ergo.api_token",
    'is needed, or "irc.ergo.api_token_file"',
  );
  demand(services.oper !== "", "irc.services.oper", "is needed: only an operator ends sessions");
  demand(
    given(services.oper_password, services.oper_password_file),
    "irc.services.oper_password",
    'is needed, or "irc.services.oper_password_file"',
  );
  demand(
    services.account !== "" || services.kind === "",
    "irc.services.account",
    "is needed: services look at its rights",
  );
  demand(
    services.account === "" || given(services.password, services.password_file),
    "irc.services.password",
    'is needed for "irc.services.account"',
  );
  return problems;
}

const ircLimits = z.strictObject({
  line_bytes: z.int().min(512).max(65_536).default(8192),
  multiline_bytes: positive.default(8192),
  multiline_lines: count.default(100),
  connections: positive.default(10_000),
  connections_per_address: count.default(64),
  connects_per_minute: count.default(120),
  registration_seconds: positive.default(30),
  sendq_bytes: z.int().min(4096).default(1_048_576),
  recvq_bytes: z.int().min(4096).default(16_384),
  flood_lines_per_second: z.number().min(0).default(5),
  flood_burst: positive.default(20),
  account_lines_per_second: z.number().min(0).default(50),
  account_burst: positive.default(400),
});

const irc = z.strictObject({
  mode: z.enum(["embedded", "external"], {
    error: 'must be "embedded" or "external"',
  }).default("embedded"),
  listen: optionalAddress.default("127.0.0.1:6667"),
  tls_listen: optionalAddress.default(""),
  websocket_listen: optionalAddress.default(""),
  websocket_tls_listen: optionalAddress.default(""),
  proxy_protocol_from: z.array(z.union([z.ipv4(), z.ipv6()])).default([]),
  server_name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/, {
    error: "must be a host name of 1 to 63 characters",
  }).default("irc.muster.local"),
  server_description: z.string().max(200).default("muster"),
  network_name: z.string().regex(/^[^\s=:]{1,32}$/, {
    error: 'must be 1 to 32 characters without space, "=" and ":"',
  }).default("muster"),
  public_address: optionalAddress.default(""),
  password: z.string().default(""),
  motd: z.string().max(10_000).default(""),
  require_account: z.union([z.literal("auto"), z.boolean()], {
    error: "must be auto, true or false",
  }).default("auto"),
  accounts: z.strictObject({
    self_registration: z.union([z.literal("connected"), z.boolean()], {
      error: "must be true, false or connected",
    }).default(false),
    registrations_per_hour: count.default(10),
    min_password_length: positive.default(8),
  }).prefault({}),
  channels: z.strictObject({
    per_account: count.default(20),
    access_entries: z.int().min(1).max(1000).default(100),
  }).prefault({}),
  sts: z.strictObject({
    enabled: z.boolean().default(false),
    duration_seconds: count.default(0),
    port: z.int().min(0).max(65_535).default(0),
  }).prefault({}),
  operators: z.array(z.strictObject({ name: nick, password_hash: z.string() })).default([]),
  history: z.strictObject({
    messages: z.int().min(0).max(100_000).default(1000),
    bytes: z.int().min(65_536).default(67_108_864),
    replay_on_join: z.int().min(0).max(1000).default(20),
    persist: z.boolean().default(true),
    max_days: z.number().min(0).default(30),
    max_messages: count.default(100_000),
    max_bytes: z.int().min(0).refine((bytes) => bytes === 0 || bytes >= 1_048_576, {
      error: "must be 0 or at least 1048576",
    }).default(1_073_741_824),
  }).prefault({}),
  limits: ircLimits.prefault({}),
  ...networkKeys,
});

const bridge = z.strictObject({
  enabled: z.boolean().default(true),
  nick: nick.default("bridge"),
  account: z.string().default(""),
  password: z.string().default(""),
  password_file: z.string().default(""),
  lines_per_second: z.number().min(0).default(2),
  line_burst: positive.default(5),
  channels: z.array(channel).default(["#general"]),
  buffer_size: z.int().min(1).max(100_000).default(200),
  max_channels: positive.default(500),
  web_user_ttl_minutes: z.number().positive().default(5),
});

const llm = z.strictObject({
  backends: configuredBackendsSchema.default([]),
  key_variables: z.array(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, {
      error: "must be the name of an environment variable",
    }),
  ).max(100).default([]),
  limits: z.strictObject({
    calls: positive.default(100),
    calls_per_caller: positive.default(20),
    first_byte_seconds: z.number().positive().max(3600).default(300),
    idle_seconds: z.number().positive().max(3600).default(120),
    total_seconds: z.number().positive().max(86_400).default(900),
    answer_bytes: z.int().min(1024).default(8_388_608),
    request_bytes: z.int().min(1024).default(16_777_216),
  }).prefault({}),
  prices: configuredPricesSchema.default([]),
  ledger: z.strictObject({
    max_calls: count.default(1_000_000),
    max_days: count.default(90),
    max_usage_days: count.default(1100),
  }).prefault({}),
  otlp: otlpSchema.prefault({}),
});

const acmeKeys = z.strictObject({
  domains: z.array(
    z.string().toLowerCase().regex(
      /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/,
      {
        error: "must be a host name such as irc.example.com",
      },
    ),
  ).max(100).default([]),
  email: z.string().regex(/^$|^[^\s@]+@[^\s@]+$/, { error: "must be an address of e-mail" })
    .default(""),
  agree_to_terms: z.boolean().default(false),
  directory: z.string().regex(/^https:\/\/\S+$/, { error: "must be a URL with https://" })
    .default("https://acme-v02.api.letsencrypt.org/directory"),
  http_listen: address.default(":80"),
  ca: z.string().default(""),
});

/** The schema, defaults and bounds of every configuration key. */
export const configSchema = z.strictObject({
  data_dir: z.string().min(1).default("./data"),
  database: databaseKeys.prefault({}),
  node: nodeKeys.prefault({}),
  api_addr: address.default("127.0.0.1:8080"),
  mcp_addr: address.default("127.0.0.1:8081"),
  irc: irc.prefault({}),
  bridge: bridge.prefault({}),
  admins: z.strictObject({
    enabled: z.boolean().default(true),
    any_loopback_host: z.boolean().default(false),
  }).prefault({}),
  policies: z.strictObject({ enabled: z.boolean().default(true) }).prefault({}),
  agents: z.strictObject({
    present_hours: z.number().min(0).max(8760).default(24),
  }).prefault({}),
  inboxes: z.strictObject({
    queue_hours: z.number().min(0).max(8760).default(72),
  }).prefault({}),
  events: z.strictObject({
    max_events: count.default(1_000_000),
    max_days: z.number().min(0).default(0),
  }).prefault({}),
  retention: z.strictObject({
    check_history_days: count.default(90),
    check_days: count.default(365),
    claim_days: count.default(365),
    landing_days: count.default(365),
    check_run_days: count.default(90),
    review_days: count.default(1095),
    workspace_days: count.default(1095),
    delivery_days: count.default(30),
    removed_project_days: count.default(90),
  }).prefault({}),
  projects: z.strictObject({
    scm: z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, {
      error: "must be 1 to 32 lower-case letters, digits and hyphens",
    }).default("fossil"),
    dir: z.string().default(""),
    claim_seconds: z.int().min(1).max(31_536_000).default(86_400),
    claims_per_agent: positive.default(10),
    strikes: positive.default(3),
    landing: z.strictObject({
      depth: z.int().min(1).max(20).default(1),
      timeout_seconds: z.int().min(1).max(31_536_000).default(3600),
    }).prefault({}),
    workspaces: positive.default(500),
    workspaces_per_agent: positive.default(50),
    reviews_per_agent: positive.default(1000),
  }).prefault({}),
  slots: z.partialRecord(
    z.enum(["worker", "orchestrator", "observer", "operator"]),
    z.strictObject({ claims: count, workspaces: count, reviews: count, calls: count }).partial(),
  ).default({}),
  checks: z.strictObject({
    actions_url: z.union([z.literal(""), z.url({ protocol: /^https?$/ })], {
      error: 'must be an address with http or https, or ""',
    }).default(""),
  }).prefault({}),
  webhooks: z.strictObject({
    allow_private: z.boolean().default(false),
    timeout_seconds: z.number().positive().max(300).default(15),
  }).prefault({}),
  llm: llm.prefault({}),
  limits: z.strictObject({
    body_bytes: z.int().min(1024).default(1_048_576),
    upload_bytes: z.int().min(1024).default(2_147_483_648),
    sync_bytes: z.int().min(1_048_576).max(1_073_741_824).default(268_435_456),
    free_bytes: count.default(16_777_216),
    streams: positive.default(5000),
    channels_per_agent: count.default(20),
    project_bytes: count.default(21_474_836_480),
    account_bytes: count.default(21_474_836_480),
    pushes_per_hour: count.default(1200),
    reports_per_hour: count.default(6000),
    connections: positive.default(8000),
    connections_per_address: count.default(256),
    header_seconds: z.number().positive().max(3600).default(60),
    body_seconds: z.number().positive().max(3600).default(30),
    idle_seconds: z.number().positive().max(86_400).default(75),
    answer_seconds: z.number().positive().max(86_400).default(300),
    login_attempts: positive.default(10),
    login_window_minutes: z.number().positive().default(15),
  }).prefault({}),
  tls: z.strictObject({
    cert: z.string().default(""),
    key: z.string().default(""),
    acme: acmeKeys.prefault({}),
  }).prefault({}).refine((tls) => (tls.cert === "") === (tls.key === ""), {
    error: "must name both cert and key, or neither",
  }),
  cors: z.strictObject({
    origins: z.array(
      z.string().regex(/^(\*|https?:\/\/[^\s/]+)$/, {
        error: 'must be an origin such as "https://example.com", or "*"',
      }),
    ).default([]),
  }).prefault({}),
  runner: z.strictObject({
    enabled: z.boolean().default(false),
    jobs: positive.max(64).default(1),
    allow_unisolated: z.boolean().default(false),
  }).prefault({}),
  public_hosts: z.array(
    z.string().toLowerCase().regex(
      /^[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?$/,
      { error: 'must be a host name without a port, such as "muster.example"' },
    ),
  ).max(100).default([]),
  trusted_proxies: z.array(z.union([z.ipv4(), z.ipv6()])).default([]),
  log: z.strictObject({
    level: z.enum(["debug", "info", "warning", "error"]).default("info"),
    format: z.enum(["auto", "text", "json"]).default("auto"),
    requests: z.enum(["auto", "on", "off"]).default("auto"),
  }).prefault({}),
}).superRefine((config, context) => {
  if (config.irc.sts.enabled && config.irc.tls_listen === "") {
    context.addIssue({
      code: "custom",
      path: ["irc", "sts", "enabled"],
      message: "needs irc.tls_listen",
    });
  }
  for (const key of ["tls_listen", "websocket_tls_listen"] as const) {
    const { cert, acme } = config.tls;
    if (config.irc[key] === "" || cert !== "" || acme.domains.length > 0) continue;
    const message = "needs tls.cert and tls.key, or tls.acme";
    context.addIssue({ code: "custom", path: ["irc", key], message });
  }
  if (config.runner.enabled && (config.tls.cert !== "" || config.tls.acme.domains.length > 0)) {
    const message = "needs an API without TLS of its own: start muster runner with --url instead";
    context.addIssue({ code: "custom", path: ["runner", "enabled"], message });
  }
  const problems = [
    ...checkDatabase(config.database),
    ...checkNetwork(config),
    ...checkNode(config),
    ...checkAcme(config.tls),
  ];
  for (const { path, message } of problems) {
    context.addIssue({ code: "custom", path: [...path], message });
  }
});

/** Finds what keeps certificates from being obtained. */
function checkAcme(
  { cert, acme }: { readonly cert: string; readonly acme: z.infer<typeof acmeKeys> },
): { readonly path: readonly string[]; readonly message: string }[] {
  if (acme.domains.length === 0) return [];
  return [
    ...cert === "" ? [] : [{ path: ["tls", "cert"], message: 'must be "" beside tls.acme' }],
    ...acme.agree_to_terms ? [] : [{
      path: ["tls", "acme", "agree_to_terms"],
      message: "must be true: the authority demands that you accept its terms",
    }],
  ];
}

/** A validated configuration. */
export type Config = z.infer<typeof configSchema>;
