import { ConfigurationError } from '../../src/index.js';
import { accessByPreset, accessByRole, clientAccess, serviceAccess, supportAccess } from '../../src/rest.js';

/** Each would otherwise let somebody in, or nobody, without a word. */
const MISTAKES: Readonly<Record<string, readonly [() => unknown, RegExp]>> = {
  'a misspelled list of apps': [
    () => clientAccess({ app: ['shop'] } as never),
    /app is no option; did you mean apps\?/,
  ],
  'a text instead of a list of apps': [
    () => clientAccess({ apps: 'shop-eu' as never }),
    /apps is "shop-eu"; it must be a list/,
  ],
  'a misspelled group': [() => clientAccess({ write: {} } as never), /did you mean writes\?/],
  'a misspelled list of writes': [
    () => clientAccess({ writes: { control: ['rewind'] } as never }),
    /writes\.control is no option; did you mean writes\.controls\?/,
  ],
  'a misspelled control': [
    () => clientAccess({ writes: { controls: ['rewnd'] } }),
    /writes\.controls is \["rewnd"\]; it must be/,
  ],
  'a scope that does not exist': [
    () => clientAccess({ writes: { stateScopes: ['sessions' as never] } }),
    /writes\.stateScopes is \["sessions"\]/,
  ],
  'a misspelled function': [() => serviceAccess({ userof: () => undefined } as never), /did you mean userOf\?/],
  'an option of another rule': [() => supportAccess({ apps: ['shop'] } as never), /apps is no option/],
  'no roles': [() => accessByRole({} as never), /roles is missing/],
  'a role without a rule': [() => accessByRole({ roles: { agents: 5 as never } }), /roles is \{"agents":5\}/],
  'a misspelled default': [
    () => accessByRole({ roles: {}, otherwis: clientAccess() } as never),
    /did you mean otherwise\?/,
  ],
  'an unknown preset': [() => accessByPreset({ suport: supportAccess() } as never), /did you mean support\?/],
};

it.each(Object.entries(MISTAKES))('%s is refused', (_name, [make, message]) => {
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(message);
});

it('What is known is taken', () => {
  const writes = { controls: ['rewind', 'actions.transferToAgent'], stateScopes: ['temp'], authors: [] } as const;
  const clients = clientAccess({ userOf: () => ({ id: 'ann' }), apps: [], writes });
  expect(() => accessByRole({ roles: { clients }, otherwise: supportAccess(), rolesOf: () => [] })).not.toThrow();
});
