/** What the tests of each API ask. */

export const WEATHER = {
  type: "function",
  function: {
    name: "weather",
    description: "The weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

/** A conversation in which the model called a tool twice and has both results. */
const CONVERSATION = [
  { role: "system", content: "Be brief." },
  {
    role: "user",
    content: [
      { type: "text", text: "Rome or Oslo?" },
      { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
    ],
  },
  {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } },
      { id: "c2", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } },
    ],
  },
  { role: "tool", tool_call_id: "c1", content: "sun" },
  { role: "tool", tool_call_id: "c2", content: "snow" },
];

/** A request with that conversation and most of the other fields. */
export const REQUEST = {
  model: "m",
  messages: CONVERSATION,
  tools: [WEATHER],
  tool_choice: "auto",
  max_tokens: 50,
  temperature: 0.5,
  stop: "END",
};
