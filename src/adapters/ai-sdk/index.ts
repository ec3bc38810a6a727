export { AnswerFailedError } from './answering.js';
export { ChatAnswer } from './chat-answer.js';
export type { ChatRequest } from './chat-request.js';
export type { AnswerRequest, ChatSessionsOptions, ForkRequest, LoadRequest, ResumeRequest } from './chat-options.js';
export { ChatSessions } from './chat-sessions.js';
export { ChatStream, type FastifyReply, type NodeResponse } from './chat-stream.js';
export { type ChatHandler, type ChatResult, ChatTurn, type StreamedText } from './chat-turn.js';
export { AnswersChat, type AnswersChatOptions, ChatInterceptor, CurrentTurn } from './chat.interceptor.js';
export { ChatsModule, type ChatsModuleOptions } from './chats.module.js';
