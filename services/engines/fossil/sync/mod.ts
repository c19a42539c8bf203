/** The sync protocol of `fossil clone`, `pull`, `push` and `sync`. */
export * from "./cards.ts";
export { answerSync, type SyncDoor } from "./answer.ts";
export { failedAnswer } from "./failed_answer.ts";
export { type ClientLogin, clientMessage } from "./asking.ts";
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
export {
  contentTypeOf,
  type MessageForm,
  messageFormOf,
  packMessage,
  unpackMessage,
} from "./message.ts";
export { writeJudged } from "./judged_write.ts";
export {
  LOGIN_COOKIE,
  LOGIN_HEAD_BYTES,
  peekLogin,
  type PresentedLogin,
  readLogin,
  sharedSecret,
  signNonce,
} from "./login_card.ts";
export { refused } from "./refusal.ts";
export type {
  LeftBehind,
  MessageSource,
  ReceivedMessage,
  SyncAnswer,
  SyncCodes,
  SyncCounts,
  SyncRequest,
  SyncRights,
} from "./request.ts";
export { surveyMessage, type SyncSurvey } from "./survey.ts";
