/** The sentinel, and what the steward shares with it: the reports and the questions to a model. */
export { ANSWER_SCHEMA, instructionsFor, quote, readAnswer } from "./model_judge.ts";
export { type Report, Reports } from "./reports.ts";
export { isWorse, Rules, SEVERITIES, type Severity } from "./rules.ts";
export { sentinel, type SentinelParts } from "./sentinel.ts";
