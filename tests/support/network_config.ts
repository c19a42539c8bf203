/** The configuration of an IRC network for tests: InspIRCd 3, and Atheme 7 or Anope 2.0. */

/** The package of services of a network. */
export type Services = "atheme" | "anope";

/** The values that the configurations of one network share. */
export interface NetworkPlan {
  /** The folder of all files. */
  readonly folder: string;
  /** The port for clients. */
  readonly port: number;
  /** The port for clients over TLS, with the certificate `tls.crt` and its key `tls.key`. */
  readonly tlsPort: number;
  /** The port for services. */
  readonly linkPort: number;
  /** The account of the services' operator. */
  readonly servicesAccount: string;
  /** For OPER. */
  readonly operator: { readonly name: string; readonly password: string };
}

const NETWORK = "irc.network.test";
const SERVICES = "services.network.test";
const LINK_SECRET = "only-for-this-test";

const INSPIRCD_MODULES = [
  ...[
    "spanningtree",
    "services_account",
    "sasl",
    "cap",
    "hidechans",
    "sha256",
    "botmode",
    "ssl_gnutls",
  ],
  ...["deaf", "hideoper", "globops", "chghost", "cban"],
  ...["ircv3", "ircv3_accounttag", "ircv3_batch", "ircv3_ctctags", "ircv3_echomessage"],
  ...["ircv3_labeledresponse", "ircv3_msgid", "ircv3_servertime", "namesx", "svshold"],
];

/** Capabilities that a network may lack. */
const MODERN_MODULES = new Set([
  "ircv3_echomessage",
  "ircv3_labeledresponse",
  "ircv3_msgid",
  "ircv3_servertime",
  "sasl",
]);

/**
 * @param id the server's id, a digit and two letters
 * @param modern whether the server offers the features of the last ten years
 */
export function inspircdConfig(plan: NetworkPlan, id: string, modern: boolean): string {
  const { folder, port, tlsPort, linkPort, operator } = plan;
  const modules = INSPIRCD_MODULES.filter((name) => modern || !MODERN_MODULES.has(name));
  return [
    tag("server", { name: NETWORK, description: "Test", network: "Test", id }),
    tag("admin", { name: "Test", nick: "test", email: "test@network.test" }),
    tag("bind", { address: "127.0.0.1", port, type: "clients" }),
    tag("bind", { address: "127.0.0.1", port: tlsPort, type: "clients", sslprofile: "tls" }),
    tag("bind", { address: "127.0.0.1", port: linkPort, type: "servers" }),
    tag("sslprofile", {
      name: "tls",
      provider: "gnutls",
      hash: "sha256",
      certfile: `${folder}/tls.crt`,
      keyfile: `${folder}/tls.key`,
    }),
    tag("path", {
      configdir: folder,
      datadir: folder,
      logdir: folder,
      moduledir: "/usr/lib/inspircd/modules",
    }),
    tag("log", { method: "file", type: "*", level: "default", target: `${folder}/inspircd.log` }),
    tag("connect", {
      allow: "*",
      timeout: 20,
      pingfreq: 120,
      maxchans: 500,
      localmax: 500,
      globalmax: 500,
      fakelag: "no",
      commandrate: 1_000_000,
      threshold: 1000,
      useident: "no",
      resolvehostnames: "no",
      recvq: 65_536,
      softsendq: 262_144,
      hardsendq: 1_048_576,
    }),
    tag("link", {
      name: SERVICES,
      ipaddr: "127.0.0.1",
      allowmask: "127.0.0.1",
      port: linkPort,
      sendpass: LINK_SECRET,
      recvpass: LINK_SECRET,
    }),
    tag("uline", { server: SERVICES, silent: "yes" }),
    tag("class", { name: "all", commands: "*", privs: "*", usermodes: "*", chanmodes: "*" }),
    tag("type", { name: "operator", classes: "all" }),
    tag("oper", { ...operator, host: "*@*", type: "operator" }),
    tag("sasl", { target: SERVICES, requiressl: "no" }),
    tag("options", { defaultmodes: "not", casemapping: "ascii" }),
    tag("limits", { maxnick: 64, maxchan: 80, maxline: 512 }),
    ...modules.map((name) => tag("module", { name })),
  ].join("\n");
}

const ATHEME_MODULES = [
  ...["protocol/inspircd", "backend/opensex", "crypto/pbkdf2v2", "saslserv/main", "saslserv/plain"],
  ...[
    "main",
    "drop",
    "freeze",
    "group",
    "hold",
    "identify",
    "info",
    "register",
    "resetpass",
    "set_core",
  ]
    .map((name) => `nickserv/${name}`),
  ...["set_email", "set_language", "set_password"].map((name) => `nickserv/${name}`),
  ...["main", "fflags", "flags", "register", "sync"].map((name) => `chanserv/${name}`),
  "operserv/main",
];

const ATHEME_PRIVILEGES = [
  ...["general:auspex", "general:flood", "user:auspex", "user:admin", "user:hold"],
  ...["chan:auspex", "chan:admin"],
];

export function athemeConfig({ linkPort, servicesAccount }: NetworkPlan): string {
  const agent = (nick: string) => ({ nick, user: nick, host: SERVICES, real: nick });
  return [
    ...ATHEME_MODULES.map((name) => `loadmodule "modules/${name}";`),
    section("serverinfo", {
      name: SERVICES,
      desc: "Services",
      numeric: "0AB",
      netname: "Test",
      adminname: "Test",
      adminemail: "test@network.test",
      registeremail: "test@network.test",
      recontime: 1,
      maxlogins: 50,
      maxusers: 0,
      mdlimit: 30,
      auth: "none",
      casemapping: "ascii",
      loglevel: ["error", "info", "network"],
    }),
    section(`uplink "${NETWORK}"`, {
      host: "127.0.0.1",
      port: linkPort,
      send_password: LINK_SECRET,
      receive_password: LINK_SECRET,
    }),
    section("nickserv", agent("NickServ")),
    section("chanserv", agent("ChanServ")),
    section("operserv", agent("OperServ")),
    section("saslserv", agent("SaslServ")),
    section('operclass "muster"', { privs: ATHEME_PRIVILEGES }),
    section(`operator "${servicesAccount}"`, { operclass: "muster" }),
    // As cheap as it can be: every login of a test costs it.
    section("pbkdf2v2", { rounds: 10_000 }),
    section("general", {
      flood_msgs: 0,
      ratelimit_uses: 0,
      commit_interval: 1,
      uplink_sendq_limit: 1_048_576,
    }),
  ].join("\n");
}

/**
 * Commands of Anope by their service and module, with a path if it differs from the command's name,
 * and the mode that the command removes.
 */
const ANOPE_COMMANDS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  nickserv: {
    ns_register: ["REGISTER"],
    ns_identify: ["IDENTIFY"],
    ns_info: ["INFO"],
    ns_drop: ["DROP"],
    ns_set: [
      "SET",
      "SASET",
      "SET PASSWORD",
      "SASET PASSWORD",
      "SET LANGUAGE",
      "SASET NOEXPIRE",
      "SASET EMAIL",
    ],
    ns_suspend: ["SUSPEND", "UNSUSPEND"],
  },
  chanserv: {
    cs_register: ["REGISTER"],
    cs_xop: ["AOP=xop", "VOP=xop"],
    cs_mode: ["DEOP=modes/OP", "DEVOICE=modes/VOICE"],
    cs_sync: ["SYNC"],
  },
};

/** The permissions that operators' commands require. */
const ANOPE_PERMISSIONS: Readonly<Record<string, string>> = {
  "SASET": "nickserv/saset/",
  "SASET EMAIL": "nickserv/saset/email",
  "SASET NOEXPIRE": "nickserv/saset/noexpire",
  "SASET PASSWORD": "nickserv/saset/password",
  "SUSPEND": "nickserv/suspend",
  "UNSUSPEND": "nickserv/suspend",
};

export function anopeConfig({ folder, linkPort, servicesAccount }: NetworkPlan): string {
  const commands = Object.entries(ANOPE_COMMANDS).flatMap(([service, modules]) =>
    Object.entries(modules).flatMap(([name, words]) => [
      block("module", { name, ...(name === "ns_register" ? { registration: "none" } : {}) }),
      ...words.map((word) => anopeCommand(service, word)),
    ])
  );
  const service = (nick: string) =>
    block("service", { nick, user: "services", host: SERVICES, gecos: nick });
  return [
    block("uplink", { host: "127.0.0.1", port: linkPort, password: LINK_SECRET }),
    block("serverinfo", {
      name: SERVICES,
      description: "Services",
      pid: `${folder}/anope.pid`,
      motd: `${folder}/anope.motd`,
    }),
    block("module", { name: "inspircd3" }),
    block("networkinfo", {
      networkname: "Test",
      nicklen: 64,
      chanlen: 80,
      userlen: 10,
      hostlen: 64,
    }),
    block("options", {
      casemap: "ascii",
      readtimeout: "5s",
      retrywait: "1s",
      updatetimeout: "5m",
      warningtimeout: "4h",
      timeoutcheck: "3s",
      expiretimeout: "30m",
    }),
    block("opertype", {
      name: "muster",
      commands: "nickserv/suspend nickserv/saset/*",
      privs: "nickserv/auspex nickserv/confirm nickserv/drop chanserv/access/modify " +
        "chanserv/administration",
    }),
    block("oper", { name: servicesAccount, type: "muster", require_oper: true }),
    service("NickServ"),
    service("ChanServ"),
    block("module", {
      name: "nickserv",
      client: "NickServ",
      forceemail: false,
      passlen: 128,
      regdelay: "0s",
      expire: "0s",
      defaults: "ns_secure autoop",
    }),
    block("module", { name: "chanserv", client: "ChanServ", expire: "0s", defaults: "secure" }),
    ...commands,
    block("privilege", { name: "AUTOOP", rank: 240, level: 5, flag: "o", xop: "AOP" }),
    block("privilege", { name: "AUTOVOICE", rank: 80, level: 3, flag: "v", xop: "VOP" }),
    block("module", { name: "db_flatfile", database: "anope.db" }),
    block("module", { name: "enc_sha256" }),
    block("module", { name: "m_sasl" }),
  ].join("\n");
}

function anopeCommand(service: string, word: string): string {
  const [name = "", rest = name.toLowerCase().replace(" ", "/")] = word.split("=");
  const [, path = rest, mode] = /^(modes)\/(\w+)$/.exec(rest) ?? [];
  const permission = ANOPE_PERMISSIONS[name];
  return block("command", {
    service: service === "nickserv" ? "NickServ" : "ChanServ",
    name,
    command: `${service}/${path}`,
    ...(permission === undefined ? {} : { permission }),
    ...(mode === undefined ? {} : { unset: mode }),
  });
}

type Value = string | number | boolean;

/** An element of InspIRCd's configuration. */
function tag(name: string, values: Readonly<Record<string, Value>>): string {
  const pairs = Object.entries(values).map(([key, value]) => ` ${key}="${value}"`);
  return `<${name}${pairs.join("")}>`;
}

/** A section of Atheme's configuration. */
function section(
  head: string,
  values: Readonly<Record<string, Value | readonly string[]>>,
): string {
  const lines = Object.entries(values).map(([key, value]) =>
    typeof value === "object"
      ? `  ${key} = { ${value.map((word) => `${word};`).join(" ")} };`
      : `  ${key} = ${typeof value === "string" ? `"${value}"` : value};`
  );
  return `${head} {\n${lines.join("\n")}\n};`;
}

/** A block of Anope's configuration. */
function block(name: string, values: Readonly<Record<string, Value>>): string {
  const word = (value: Value) => typeof value === "boolean" ? (value ? "yes" : "no") : `"${value}"`;
  const lines = Object.entries(values).map(([key, value]) => `  ${key} = ${word(value)}`);
  return `${name}\n{\n${lines.join("\n")}\n}`;
}
