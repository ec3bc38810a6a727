import { ApiPropertyOptional } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import { ApiObject } from './api-object.js';

/** State in a body; the domain rules validate its content. */
export const STATE = {
  type: 'object',
  description:
    'Values by key. A key without prefix belongs to the session, `user:` to all sessions of the user, `app:` to all ' +
    'sessions of the app; `temp:` is not stored.',
  additionalProperties: true,
} as const;

export const STATE_REMOVALS = {
  type: 'array',
  items: { type: 'string' },
  description: 'Keys to remove. `null` in `stateDelta` is a value and removes nothing.',
} as const;

export const STATE_EXAMPLE = { step: 2, 'user:language': 'en', 'app:currency': 'EUR' } as const;
export const SHARED_STATE_EXAMPLE = { language: 'en' } as const;

/** What `PATCH …/state` takes. */
@ApiObject({
  name: 'StateChange',
  additionalProperties: false,
  example: { stateDelta: { step: 3, language: 'de' }, stateRemovals: ['draft'] },
})
export class ChangeStateBody {
  @ApiPropertyOptional(STATE)
  @Allow()
  stateDelta?: unknown;

  @ApiPropertyOptional(STATE_REMOVALS)
  @Allow()
  stateRemovals?: unknown;
}
