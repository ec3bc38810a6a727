import { RequestMalformedError } from '@a2a-js/sdk/errors';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { checkedSessionKey, isId, type OptionKinds } from '../../adapter.js';
import type { SessionKey, UserKey } from '../../index.js';

/** Whose sessions the tasks are. */
export interface TaskScopeOptions {
  /** The app of the sessions. Each tenant has an app of its own, `appName@tenant`, unless this is a function. */
  readonly appName: string | ((context: ServerCallContext) => string);
  /** The user of the sessions. Default: the signed-in user of the call; a call without one is refused. */
  readonly userId?: ((context: ServerCallContext) => string) | undefined;
}

export const SCOPE = { appName: 'id or function', userId: 'function?' } satisfies OptionKinds<TaskScopeOptions>;

/** Finds the sessions that a call may see. */
export class TaskScope {
  constructor(private readonly options: TaskScopeOptions) {}

  ownerOf(context: ServerCallContext): UserKey {
    const { appName, userId } = this.options;
    const { tenant } = context;
    const named = typeof appName === 'function' ? appName(context) : tenant ? `${appName}@${tenant}` : appName;
    return { appName: named, userId: userId ? userId(context) : signedInUser(context) };
  }

  /** Throws `InvalidInputError` if an id is none. */
  keyOf(taskId: string, context: ServerCallContext): SessionKey {
    return checkedSessionKey({ ...this.ownerOf(context), sessionId: taskId });
  }

  /** `undefined` if there cannot be such a task. */
  findKey(taskId: string, context: ServerCallContext): SessionKey | undefined {
    const owner = this.findOwner(context);
    return owner && isId(taskId) ? { ...owner, sessionId: taskId } : undefined;
  }

  /** `undefined` if the owner can have no sessions. */
  findOwner(context: ServerCallContext): UserKey | undefined {
    const owner = this.ownerOf(context);
    return [owner.appName, owner.userId].every(isId) ? owner : undefined;
  }
}

/** Strangers must not share a user: they would read the tasks of each other. */
function signedInUser({ user }: ServerCallContext): string {
  if (user?.isAuthenticated && user.userName) return user.userName;
  throw new RequestMalformedError('This agent keeps the tasks of signed-in users. Sign in first.');
}
