import { z } from "zod";
import { Waits } from "../http/mod.ts";
import { registrationSchema } from "../services/agents/schemas.ts";
import { fitLines, maxCharsShape, moreShape } from "./budget.ts";
import { type CoordinationServices, running } from "./coordination_services.ts";
import { acknowledgeMessages, getMessageState } from "./delivery_tools.ts";
import { questionTools } from "./question_tools.ts";
import { getHistory, readAgentsInbox, readOwnInbox } from "./reading_tools.ts";
import { post, sendDirect, sendMessage } from "./speaking_tools.ts";
import { defineTool, type Tool } from "./tool.ts";

/** The contract's five coordination tools in its order, and then the others. */
export function coordinationTools(services: CoordinationServices): readonly Tool[] {
  const waits = new Waits();
  services.identity.onEnded((ended) => waits.abortEnded(ended));
  return [
    getStatus(services),
    listChannels(services),
    registerAgent(services),
    sendMessage(services),
    getHistory(services, waits),
    readOwnInbox(services, waits),
    readAgentsInbox(services, waits),
    sendDirect(services),
    post(services),
    acknowledgeMessages(services),
    getMessageState(services),
    ...(services.questions === undefined || services.needs === undefined
      ? []
      : questionTools({ questions: services.questions, needs: services.needs }, waits)),
  ];
}

function getStatus({ status, agents }: CoordinationServices): Tool {
  return defineTool({
    name: "get_status",
    description:
      "Returns the state of the service and how many agents are registered, in total and " +
      "active, that is, not revoked. Use it to check the connection.",
    resource: "coordination",
    input: {},
    output: z.object({
      status: z.string(),
      agents: z.object({ active: z.int(), total: z.int() }),
    }),
    readOnly: true,
    run() {
      const { active, total } = agents.counts();
      const { status: state } = status.read();
      return {
        text: `status: ${state}\nagents: ${active} active, ${total} total`,
        data: { status: state, agents: { active, total } },
      };
    },
  });
}

function listChannels({ bridge }: CoordinationServices): Tool {
  return defineTool({
    name: "list_channels",
    description: "Lists the channels that you may know of, with the number of members and the " +
      "topic. Use it to find out where to read (get_history) or speak (post, send_message).",
    resource: "coordination",
    input: {
      offset: z.int().min(0).default(0).describe("How many channels to skip, to read on"),
      ...maxCharsShape,
    },
    output: z.object({
      channels: z.array(z.object({ name: z.string(), members: z.int(), topic: z.string() })),
      ...moreShape,
    }),
    readOnly: true,
    async run({ offset, max_chars: maxCharacters }, { caller }) {
      const open = running(bridge);
      await open.whenReady();
      const found = open.summaries(caller).slice(offset);
      const written = found.map(({ name, members, topic }) =>
        `${name} (${members} members)${topic === "" ? "" : ` — ${topic}`}`
      );
      const { lines, more, next } = fitLines(written, { offset, maxCharacters });
      const data = { channels: found.slice(0, lines.length) };
      if (more === undefined) {
        return { text: lines.length === 0 ? "no channels" : lines.join("\n"), data };
      }
      return { text: [...lines, more].join("\n"), data: { ...data, more, next } };
    },
  });
}

function registerAgent({ agents }: CoordinationServices): Tool {
  const { nick, type, channels } = registrationSchema.shape;
  return defineTool({
    name: "register_agent",
    description: "Registers a new agent and returns its password, which nobody can read again: " +
      "hand it to the agent at once.",
    resource: "server",
    input: {
      nick: nick.describe("Unique name of the agent, also its IRC nick"),
      type: type.describe("The agent's role"),
      channels: channels.describe("Channels that it works in, such as #general"),
    },
    output: z.object({ nick: z.string(), password: z.string() }),
    readOnly: false,
    isNewWork: true,
    advice: { conflict: "Choose another nick" },
    async run(request, { caller }) {
      const { credentials } = await agents.register(request, caller);
      const { nick, passphrase } = credentials;
      return {
        text: `Agent registered: ${nick}\nnick: ${nick}\npassword: ${passphrase}`,
        data: { nick, password: passphrase },
      };
    },
  });
}
