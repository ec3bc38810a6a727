import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
  SetMetadata,
  UseInterceptors,
  applyDecorators,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type Observable, mergeMap } from 'rxjs';
import { jsonBytes } from '../domain/stored/byte-budget.js';
import { AccessChecks } from '../transport/access-checks.js';
import { WORK_IS_DONE, reserveAnswer } from '../transport/answers.js';
import { HttpExchange } from './http-exchange.js';

/** What a route answers with, as metadata of its method. */
export const ANSWER = 'nestjs-agent-sessions:answer';

type Kind = 'much' | 'its body' | 'what it did' | 'stream';

const answersWith = (kind: Kind): MethodDecorator =>
  applyDecorators(SetMetadata(ANSWER, kind), UseInterceptors(AnswerInterceptor));

/**
 * The method reads a view or a page of a log. It is called when the memory of the process has room for that, which it holds until the
 * client has read the answer. Refused with 429 if there is none in time. For routes of your own that read as much; needs
 * `SessionAccessModule`.
 *
 * @example
 * \@Get('api/chat/:id')
 * \@LargeAnswer()
 * load(\@Param('id') sessionId: string, \@Req() request: SignedIn) {
 *   return this.chats.load({ appName: 'shop', userId: request.user.id, sessionId });
 * }
 */
export const LargeAnswer = (): MethodDecorator => answersWith('much');

/** The method stores the body, and answers with that: the same for as many bytes. Without memory for them, nothing is stored. */
export const AnswersItsBody = (): MethodDecorator => answersWith('its body');

/**
 * The method takes its time, such as a run of an agent, and answers with what it wrote. Memory for that would wait with it, so the
 * answer gets it when it is known. Refused with 429 then, it can be read from the log.
 */
export const AnswersWithWork = (): MethodDecorator => answersWith('what it did');

/**
 * The method answers with server-sent events. It is refused with 429 if its client has too many streams open. For routes of your own
 * that stream; needs `SessionAccessModule`.
 *
 * @example
 * \@Get('api/chat/:id/stream')
 * \@OpensStream()
 * resume(\@Param('id') sessionId: string, \@Res() response: Response) {}
 */
export const OpensStream = (): MethodDecorator => answersWith('stream');

/** Reserves the memory of answers, and counts streams: {@link LargeAnswer}, {@link OpensStream}. */
@Injectable()
class AnswerInterceptor implements NestInterceptor {
  constructor(
    @Inject(AccessChecks) private readonly access: AccessChecks,
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const { request, nodeResponse: response } = HttpExchange.of(context);
    const kind = this.reflector.get<Kind>(ANSWER, context.getHandler());
    if (kind !== 'stream') {
      const most = this.access.answerTo(request, response);
      const reserve = async (bytes = most.bytes, refusal?: string) => reserveAnswer({ ...most, bytes, refusal });
      if (kind === 'what it did') {
        return next.handle().pipe(
          mergeMap(async (answer: unknown) => {
            await reserve(jsonBytes(answer), WORK_IS_DONE);
            return answer;
          }),
        );
      }
      await reserve(kind === 'its body' ? Math.min(bodyBytes(request), most.bytes) : undefined);
      return next.handle();
    }
    this.access.countStream(request, response);
    return next.handle();
  }
}

/** A body in chunks does not say its length. */
function bodyBytes({ headers, body }: HttpExchange['request']): number {
  return Number(headers['content-length'] ?? jsonBytes(body));
}
