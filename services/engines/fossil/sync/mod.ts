/** The sync protocol of `fossil clone`, `pull`, `push` and `sync`. */
export * from "./cards.ts";
export { answerSync, type SyncDoor } from "./answer.ts";
export { failedAnswer } from "./failed_answer.ts";
export {
  type ClonedMessage,
  type ClonedRound,
  type CloneState,
  cloneStateOf,
  storeCloned,
} from "./cloning.ts";
export { type PulledMessage, type PulledRound, storePulled } from "./pulling.ts";
export { readSyncCodes } from "./card_answers.ts";
export { CardReader } from "./card_reader.ts";
export { CardWriter } from "./card_writer.ts";
export type {
  Judge,
  NameRule,
  OpenJudge,
  PushedArtifact,
  PushedKind,
  PushedUnversioned,
  PushRules,
} from "./judgement.ts";
export { writeJudged } from "./judge.ts";
export {
  type ClientLogin,
  clientMessage,
  LOGIN_COOKIE,
  LOGIN_HEAD_BYTES,
  peekLogin,
  type PresentedLogin,
  readLogin,
  sharedSecret,
  signNonce,
} from "./login_card.ts";
export { refused } from "./refusal.ts";
export {
  contentTypeOf,
  type LeftBehind,
  type MessageForm,
  messageFormOf,
  type MessageSource,
  packMessage,
  type ReceivedMessage,
  type SyncAnswer,
  type SyncCodes,
  type SyncCounts,
  type SyncRequest,
  type SyncRights,
  unpackMessage,
} from "./request.ts";
export { surveyMessage, type SyncSurvey } from "./survey.ts";
