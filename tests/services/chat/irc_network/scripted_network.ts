import type { LineConnection } from "../../../../services/chat/bridge/mod.ts";
import { silentLog } from "../../../../services/kernel/log.ts";
import { IrcConsole } from "../../../../services/chat/irc_network/mod.ts";
import { TestScheduler } from "../../../support/scheduler.ts";

/** A network in a few lines: it lets everybody in, and answers as the test says. */
export class ScriptedNetwork {
  readonly scheduler = new TestScheduler();
  readonly connections: ScriptedConnection[] = [];
  /** What a line that is not about letting in is answered with. */
  answer: (line: string) => readonly string[] = () => [];
  operPassword = "operator-password";
  capabilities = "";
  /** The nicks that those get who come next; `muster` for all others. */
  readonly nextNicks: string[] = [];
  /** Whether NickServ's IDENTIFY is confirmed. */
  isLoggingIn = false;
  isReachable = true;

  connect(): ScriptedConnection {
    if (!this.isReachable) throw new Error("Connection refused");
    const connection = new ScriptedConnection((line) => this.#reply(line));
    this.connections.push(connection);
    return connection;
  }

  console(): IrcConsole {
    return new IrcConsole({
      connect: () => this.connect(),
      nick: "muster",
      serverPassword: "server-password",
      login: null,
      operator: { name: "oper", password: "operator-password" },
      nickServ: "NickServ",
      scheduler: this.scheduler,
      log: silentLog,
    });
  }

  #reply(line: string): readonly string[] {
    if (line.startsWith("CAP LS")) return [`:irc CAP * LS :${this.capabilities}`];
    if (line.startsWith("CAP REQ")) return [`:irc CAP * ACK ${line.slice("CAP REQ ".length)}`];
    if (line.startsWith("USER")) {
      return [`:irc 001 ${this.nextNicks.shift() ?? "muster"} :Welcome`, ":irc 422 * :No MOTD"];
    }
    if (this.isLoggingIn && line.includes(" :IDENTIFY ")) {
      return [":irc 900 muster muster!u@h admin :You are now logged in"];
    }
    if (line.startsWith("OPER")) {
      const isRight = line === `OPER oper ${this.operPassword}`;
      return [isRight ? ":irc 381 muster :You are an operator" : ":irc 464 muster :Wrong"];
    }
    const ping = /^PING (\S+)$/.exec(line);
    if (ping !== null) return [...this.answer(line), `:irc PONG irc :${ping[1]}`];
    return this.answer(line);
  }
}

export class ScriptedConnection implements LineConnection {
  onLine: ((line: string) => void) | null = null;
  onClose: ((reason: string) => void) | null = null;
  readonly sent: string[] = [];
  closed = false;
  #nick = "muster";
  readonly #reply: (line: string) => readonly string[];

  constructor(reply: (line: string) => readonly string[]) {
    this.#reply = reply;
  }

  send(line: string): void {
    this.sent.push(line);
    for (const answer of this.#reply(line)) {
      this.#nick = / 001 (\S+) /.exec(answer)?.[1] ?? this.#nick;
      const addressed = answer.replace(" NOTICE muster ", ` NOTICE ${this.#nick} `);
      queueMicrotask(() => this.onLine?.(addressed));
    }
  }

  close(): void {
    this.closed = true;
  }
}

export function notice(text: string, tags = ""): string {
  return `${tags}:NickServ!service@services NOTICE muster :${text}`;
}

/** Answers a question with lines, and the CTCP PING after it with its echo. */
export function service(lines: readonly string[]): (line: string) => readonly string[] {
  return (line) => {
    const ping = /^PRIVMSG NickServ :(\P{L}PING .*)$/u.exec(line);
    if (ping !== null) return [notice(ping[1] ?? "")];
    return line.includes("PRIVMSG NickServ") ? lines.map((text) => notice(text)) : [];
  };
}
