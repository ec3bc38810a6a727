import { type ArgumentsHost, Catch, type PipeTransform } from '@nestjs/common';
import { ProblemFilter } from '../../sessions/rest/problem.filter.js';
import { HttpExchange } from '../../sessions/rest/http-exchange.js';
import { HiddenDeletion } from '../../sessions/transport/access-refusals.js';
import type { Problem } from '../../sessions/transport/problems.js';
import { adkBody } from './adk-requests.js';

/** The answer to a deletion. Clients of ADK parse it. */
export const DELETED = {};

/** Names the problem as the clients of ADK read it, too. */
@Catch()
export class AdkProblemFilter extends ProblemFilter {
  override catch(error: unknown, host: ArgumentsHost): void {
    if (!(error instanceof HiddenDeletion)) {
      super.catch(error, host);
      return;
    }
    const http = host.switchToHttp();
    const exchange = new HttpExchange(http.getRequest(), http.getResponse());
    exchange.setStatus(200);
    exchange.setHeader('Content-Type', 'application/json; charset=utf-8');
    http.getResponse<{ send(body: string): void }>().send(JSON.stringify(DELETED));
  }

  protected override bodyOf(problem: Problem): object {
    return { ...problem, error: problem.detail };
  }
}

/** Reads the names of ADK for Python. */
export class AdkNamesPipe implements PipeTransform<unknown, object> {
  transform(body: unknown): object {
    return adkBody(body);
  }
}
