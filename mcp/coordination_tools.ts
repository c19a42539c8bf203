import { z } from "zod";
import { registerAgent } from "../services/people/agents/operations.ts";
import { registrationSchema } from "../services/people/agents/schemas.ts";
import { describeChannels } from "../services/chat/bridge/operations.ts";
import { summarizeStatus } from "../services/operation/metrics/operations.ts";
import { fitLines, maxCharsShape, moreShape } from "./budget.ts";
import { deliveryTools } from "./delivery_tools.ts";
import { questionTools } from "./question_tools.ts";
import { getHistory, readAgentsInbox, readOwnInbox } from "./reading_tools.ts";
import { sendMessage, speakingTools } from "./speaking_tools.ts";
import { type Tool, tool } from "./tool.ts";

const status = tool({
  name: "get_status",
  description:
    "Returns the state of the service and how many agents are registered, in total and " +
    "active (not revoked). It checks the connection.",
  does: summarizeStatus,
  input: {},
  output: {
    status: z.string(),
    agents: z.object({ active: z.int(), total: z.int() }),
  },
  async run(_input, call) {
    const { status, agents } = await call.invoke(summarizeStatus, {});
    return {
      text: `status: ${status}\nagents: ${agents.active} active, ${agents.total} total`,
      data: { status, agents },
    };
  },
});

const channels = tool({
  name: "list_channels",
  description: "Lists the channels that you may know of, with the number of members and the " +
    "topic.",
  does: describeChannels,
  input: {
    offset: z.int().min(0).default(0).describe("How many channels to skip, to read on"),
    ...maxCharsShape,
  },
  output: {
    channels: z.array(z.object({ name: z.string(), members: z.int(), topic: z.string() })),
    ...moreShape,
  },
  async run({ offset, max_chars: maxCharacters }, call) {
    const found = (await call.invoke(describeChannels, {})).slice(offset);
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

const { nick, type, channels: ownChannels } = registrationSchema.shape;

const registration = tool({
  name: "register_agent",
  description: "Registers a new agent and returns its password, which nobody can read again: " +
    "hand it to the agent at once.",
  does: registerAgent,
  input: {
    nick: nick.describe("Unique name of the agent, also its IRC nick"),
    type: type.describe("The agent's role"),
    channels: ownChannels.describe("Channels that it works in, such as #general"),
  },
  output: { nick: z.string(), password: z.string() },
  advice: { conflict: "Choose another nick" },
  async run(request, call) {
    const { credentials } = await call.invoke(registerAgent, request);
    const { nick, passphrase } = credentials;
    return {
      text: `Agent registered: ${nick}\nnick: ${nick}\npassword: ${passphrase}`,
      data: { nick, password: passphrase },
    };
  },
});

/**
 * The contract's five coordination tools in its order, and then the others.
 *
 * @param bufferSize the number of messages kept per channel
 */
export function coordinationTools(bufferSize: number): readonly Tool[] {
  return [
    status,
    channels,
    registration,
    sendMessage,
    getHistory(bufferSize),
    readOwnInbox,
    readAgentsInbox,
    ...speakingTools,
    ...deliveryTools,
    ...questionTools,
  ];
}
