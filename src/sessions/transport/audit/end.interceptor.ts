import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { type Observable, tap } from 'rxjs';
import { identifyCall } from '../identify-call.js';
import { takeEnd } from './audited-call.js';

/** Tells the audit what came of a call. The end of the response would not do: a client may leave before the handler is done. */
@Injectable()
export class EndInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const end = takeEnd(identifyCall(context));
    if (!end) return next.handle();
    return next.handle().pipe(
      tap({
        error: (error: unknown) => end('failed', error),
        complete: () => end('done'),
        // An interceptor of the app no longer waits for the handler.
        unsubscribe: () => end('allowed'),
      }),
    );
  }
}
