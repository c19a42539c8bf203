/** The sentinel, and what the steward shares with it: the reports and the questions to a model. */
export {
  ANSWER_SCHEMA,
  instructionsFor,
  isWorse,
  quote,
  readAnswer,
  Rules,
  SEVERITIES,
  type Severity,
} from "./judging.ts";
export { type Report, Reports, sentinel, type SentinelParts } from "./sentinel.ts";
