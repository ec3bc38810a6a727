import { checkedBody } from './bodies.js';
import { appStateOf, userStateOf } from './paths.js';
import type { RemoteOwner, State, StateChange } from './remote-types.js';
import type { RequestOptions, Requests } from './requests.js';

/** The part of the client that is about no session: what users and apps share. */
export abstract class SharedStateClient {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /**
   * What all sessions of a user share; keys without the prefix `user:`.
   * @example const { theme } = await client.getUserState({ appName: 'shop', userId: 'ann' });
   */
  async getUserState(owner: RemoteOwner): Promise<State> {
    return this.#send('GET', userStateOf(owner), { isRepeatable: true });
  }

  /**
   * Changes what all sessions of a user share, and answers with all of it.
   * @example await client.updateUserState({ appName: 'shop', userId: 'ann', stateDelta: { theme: 'dark' } });
   */
  async updateUserState({ stateDelta, stateRemovals, ...owner }: RemoteOwner & StateChange): Promise<State> {
    return this.#send('PATCH', userStateOf(owner), { body: checkedBody({ stateDelta, stateRemovals }) });
  }

  /**
   * What all sessions of an app share; keys without the prefix `app:`.
   * @example const { currency } = await client.getAppState({ appName: 'shop' });
   */
  async getAppState(owner: { appName: string }): Promise<State> {
    return this.#send('GET', appStateOf(owner), { isRepeatable: true });
  }

  /**
   * Changes what all sessions of an app share, and answers with all of it.
   * @example await client.updateAppState({ appName: 'shop', stateDelta: { currency: 'EUR' } });
   */
  async updateAppState({ stateDelta, stateRemovals, ...owner }: { appName: string } & StateChange): Promise<State> {
    return this.#send('PATCH', appStateOf(owner), { body: checkedBody({ stateDelta, stateRemovals }) });
  }

  async #send(method: string, path: string, options: RequestOptions): Promise<State> {
    return (await this.#requests.json(method, path, options)) as State;
  }
}
