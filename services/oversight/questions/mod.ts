/**
 * Questions of agents to people. A question has a number that people can type. It ends by the first
 * answer, at its deadline, or when its asker withdraws it; the asker finds that in its inbox.
 */
export {
  announcementOf,
  ANSWER_WAYS,
  answererOf,
  type AnswerWay,
  endingOf,
  lineOf,
  type Party,
  type Question,
  QUESTION_STATES,
  type QuestionState,
} from "./question.ts";
export { MAX_PAGE } from "./question_book.ts";
export {
  type QuestionListener,
  QuestionNeeds,
  Questions,
  type QuestionsOptions,
  type QuestionTicket,
} from "./questions.ts";
export type { NewQuestion } from "./schemas.ts";
export { QuestionCommands, type SpokenAnswer } from "./commands.ts";
