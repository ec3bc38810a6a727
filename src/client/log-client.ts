import type { ModelRequestReport } from '../sessions/domain/event/request-report.js';
import type { ViewExplanation } from '../sessions/operations/explain-view.js';
import type { ModelRequestQuery } from '../sessions/operations/get-model-request.js';
import type { EventPage, ListEventsRequest } from '../sessions/operations/list-events.js';
import { AgentsClient } from './agents-client.js';
import { sessionPath } from './paths.js';
import type { RemoteExplainRequest } from './remote-types.js';
import type { Requests } from './requests.js';

/** The part of the client that reads the log of a session. */
export abstract class LogClient extends AgentsClient {
  readonly #requests: Requests;

  protected constructor(requests: Requests) {
    super(requests);
    this.#requests = requests;
  }

  /**
   * Returns a page of the whole log, including rewound and summarised events.
   * @example const { events } = await client.listEvents({ ...key, order: 'desc', limit: 10 });
   */
  async listEvents({ appName, userId, sessionId, minSeq, ...range }: ListEventsRequest): Promise<EventPage> {
    const path = `${sessionPath({ appName, userId, sessionId })}/events`;
    return this.#requests.json('GET', path, { query: { ...range, minSeq }, isRepeatable: true });
  }

  /**
   * Says of each event of the log why it is in the view that `getSession` returns with the same limits, or not.
   * @example const { events } = await client.explainView({ ...key, numRecentEvents: 20 });
   */
  async explainView({ appName, userId, sessionId, minSeq, ...view }: RemoteExplainRequest): Promise<ViewExplanation> {
    const path = `${sessionPath({ appName, userId, sessionId })}/view/explanation`;
    return this.#requests.json('GET', path, { query: { ...view, minSeq }, isRepeatable: true });
  }

  /**
   * Says what a model was given for an answer. `undefined` if the event does not say it. Instructions and tools need `allowsPrompts`.
   * @example const { given, change } = (await client.getModelRequest({ ...key, seq: 4 })) ?? {};
   */
  async getModelRequest({ seq, since, minSeq, ...key }: ModelRequestQuery): Promise<ModelRequestReport | undefined> {
    const query = { seq, since, minSeq };
    return this.#requests.json('GET', `${sessionPath(key)}/model-request`, { query, isRepeatable: true });
  }
}
