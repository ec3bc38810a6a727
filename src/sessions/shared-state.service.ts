import { asked } from './domain/asked.js';
import { type UserKey, assertId } from './domain/ids.js';
import { type SharedStateChanges, getSharedState, updateSharedState } from './operations/shared-state.js';
import type { SessionEnvironment } from './session-environment.js';

/** The part of the session service that is about no session: what users and apps share. */
export abstract class SharedStateService {
  readonly #env: SessionEnvironment;

  constructor(env: SessionEnvironment) {
    this.#env = env;
  }

  /**
   * What all sessions of a user share; keys without the prefix `user:`.
   * @example const { theme } = await sessions.getUserState({ appName: 'shop', userId: 'ann' });
   */
  async getUserState(request: UserKey): Promise<Record<string, unknown>> {
    const { appName, userId } = asked(request);
    assertId(userId, 'userId');
    return this.#env.running.track(getSharedState(this.#env, { appName, userId }));
  }

  /**
   * Changes what all sessions of a user share, without a session.
   * @example await sessions.updateUserState({ appName: 'shop', userId: 'ann', stateDelta: { theme: 'dark' } });
   */
  async updateUserState(request: UserKey & SharedStateChanges): Promise<Record<string, unknown>> {
    const { appName, userId, ...changes } = asked(request);
    assertId(userId, 'userId');
    return this.#env.running.track(updateSharedState(this.#env, { appName, userId }, changes));
  }

  /**
   * What all sessions of an app share; keys without the prefix `app:`.
   * @example const { currency } = await sessions.getAppState({ appName: 'shop' });
   */
  async getAppState(request: { appName: string }): Promise<Record<string, unknown>> {
    const { appName } = asked(request);
    return this.#env.running.track(getSharedState(this.#env, { appName }));
  }

  /**
   * Changes what all sessions of an app share, without a session.
   * @example await sessions.updateAppState({ appName: 'shop', stateDelta: { currency: 'EUR' } });
   */
  async updateAppState(request: { appName: string } & SharedStateChanges): Promise<Record<string, unknown>> {
    const { appName, ...changes } = asked(request);
    return this.#env.running.track(updateSharedState(this.#env, { appName }, changes));
  }
}
