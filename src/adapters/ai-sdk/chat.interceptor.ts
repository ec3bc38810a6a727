import {
  type CallHandler,
  type ExecutionContext,
  HttpCode,
  HttpException,
  Inject,
  Injectable,
  Logger,
  type NestInterceptor,
  Optional,
  SetMetadata,
  StreamableFile,
  UseGuards,
  UseInterceptors,
  applyDecorators,
  createParamDecorator,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { UI_MESSAGE_STREAM_HEADERS } from 'ai';
import { type Observable, from, lastValueFrom } from 'rxjs';
import {
  AccessChecks,
  checkOptions,
  describeWrite,
  HttpExchange,
  JsonRequestGuard,
  reportProblem,
  withOutcome,
} from '../../adapter.js';
import { ConfigurationError, type SessionKey, SessionsError, type UserKey } from '../../index.js';
import type { ChatAnswer } from './chat-answer.js';
import type { ChatRequest } from './chat-request.js';
import type { AnswerRequest } from './chat-options.js';
import { ChatSessions } from './chat-sessions.js';
import type { ChatHandler, ChatResult, ChatTurn } from './chat-turn.js';
import { sentChunks, unchecked } from './sent-chunks.js';

/** Which chats a method answers. */
export interface AnswersChatOptions<Request = unknown> extends Pick<AnswerRequest, 'policy' | 'create' | 'edits'> {
  /** The app and the user of a request, for instance of the signed-in user. Never ids that the client sent. */
  readonly of: (request: Request) => UserKey | Promise<UserKey>;
}

const OPTIONS = Symbol('answers chat');

/** The turns that requests are in. */
const turns = new WeakMap<object, ChatTurn>();

/**
 * The method answers messages of `useChat`: what it returns is stored and streamed. It is called in the turn of the message; its
 * other parameters work as in any controller. Requests are JSON, so that no form of another site can send them. The access rule of
 * `SessionAccessModule` decides what they may write.
 *
 * @example
 * \@Post('api/chat')
 * \@AnswersChat({ of: (request: SignedIn) => ({ appName: 'shop', userId: request.user.id }), policy: 'enqueue' })
 * async chat(\@CurrentTurn() turn: ChatTurn) {
 *   return streamText({ model, messages: await convertToModelMessages(turn.messages), abortSignal: turn.signal });
 * }
 */
export function AnswersChat<Request>(options: AnswersChatOptions<Request>): MethodDecorator {
  checkOptions<AnswersChatOptions<Request>>('AnswersChat', options, {
    of: 'function',
    policy: 'text?',
    create: 'flag?',
    edits: 'flag?',
  });
  return applyDecorators(
    SetMetadata(OPTIONS, options),
    HttpCode(200),
    UseGuards(JsonRequestGuard),
    UseInterceptors(ChatInterceptor),
  );
}

/** The turn of a method with {@link AnswersChat}: the messages, the signal, the session and its state. */
export const CurrentTurn = createParamDecorator((_data: unknown, context: ExecutionContext): ChatTurn => {
  const turn = turns.get(getChatRequest(context));
  if (turn) return turn;
  throw new Error('There is no turn: @CurrentTurn() needs @AnswersChat() on the method.');
});

/**
 * Stores and streams what a method with {@link AnswersChat} returns.
 *
 * @example applyDecorators(SetMetadata(…), UseInterceptors(ChatInterceptor)); // what AnswersChat does
 */
@Injectable()
export class ChatInterceptor implements NestInterceptor {
  readonly #logger = new Logger(ChatInterceptor.name);

  constructor(
    @Inject(ChatSessions) private readonly chats: ChatSessions,
    @Inject(Reflector) private readonly reflector: Reflector,
    @Optional() @Inject(AccessChecks) private readonly access: AccessChecks | undefined,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<StreamableFile> {
    return from(this.#answer(context, next));
  }

  async #answer(context: ExecutionContext, next: CallHandler): Promise<StreamableFile> {
    const request = getChatRequest(context);
    const exchange = HttpExchange.of(context);
    const { access } = this;
    const { of, ...options } = this.reflector.get<AnswersChatOptions>(OPTIONS, context.getHandler());
    let key: SessionKey | undefined;
    try {
      // Where no guard does, the access rule finds the user, whom `of` asks for.
      await access?.signIn(request);
      const { appName, userId } = checkedOwner(await of(request));
      key = { appName, userId, sessionId: String(request.body?.id) };
      const mayWrite = access && mayWriteBy(access, exchange, options.create ?? true);
      const asked = { ...options, mayWrite, appName, userId, request: request.body ?? {} };
      const handler = async (turn: ChatTurn): Promise<ChatResult> => {
        turns.set(request, turn);
        return lastValueFrom(next.handle()) as Promise<ChatResult>;
      };
      const answer = await withOutcome(request, () => this.#begin(asked, handler), { isStream: true });
      for (const [name, value] of Object.entries(UI_MESSAGE_STREAM_HEADERS)) exchange.setHeader(name, value);
      const followed = access?.followStream({ action: 'read', target: 'session', ...key, request }) ?? unchecked();
      const bytes = sentChunks(answer.stream(), exchange.nodeResponse, followed);
      return new StreamableFile(bytes, { type: UI_MESSAGE_STREAM_HEADERS['content-type'] });
    } catch (error) {
      throw httpErrorOf(error, this.#logger, key);
    }
  }

  async #begin(asked: AnswerRequest, handler: ChatHandler): Promise<ChatAnswer> {
    const answer = await this.chats.answer(asked, handler);
    await answer.whenBegun();
    return answer;
  }
}

/** Asks the rule of the app, as REST does. Then its answer counts as a stream of who asks. */
function mayWriteBy(
  access: AccessChecks,
  { request, nodeResponse }: HttpExchange,
  mayCreate: boolean,
): NonNullable<AnswerRequest['mayWrite']> {
  return async ({ write, isNew, ...key }) => {
    await access.check({ action: 'write', target: 'session', ...key, request, write });
    access.countStream(request, nodeResponse);
    if (!mayCreate || !(await isNew())) return;
    const { appName, userId } = key;
    await access.check({ action: 'create', target: 'sessions', appName, userId, request, write: describeWrite({}) });
  };
}

/** A user that is missing is no fault of the client: `of` found none, as where no guard signs users in. */
function checkedOwner(owner: Partial<UserKey> | undefined): UserKey {
  const { appName, userId } = owner ?? {};
  if (appName !== undefined && userId !== undefined) return { appName, userId };
  const given = owner && appName !== undefined ? 'no userId' : 'no appName';
  throw new ConfigurationError([`AnswersChat: of returned ${given}; it must return { appName, userId }.`]);
}

/** Errors of sessions get their status; Nest knows that of its own errors only. */
function httpErrorOf(error: unknown, logger: Logger, key: SessionKey | undefined): unknown {
  if (!(error instanceof SessionsError)) return error;
  const problem = reportProblem(logger, error, key);
  return new HttpException(problem, problem.status, { cause: error });
}

function getChatRequest(context: ExecutionContext): { readonly body?: ChatRequest } {
  return context.switchToHttp().getRequest();
}
