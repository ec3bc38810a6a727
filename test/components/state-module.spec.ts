import {
  ComponentConflictError,
  ComponentManager,
  ComponentNotFoundError,
  ComponentSession,
  InMemoryComponentStore,
  Saved,
  SavedList,
  StateModuleOf,
} from '../../src/components/index.js';

class Agent extends StateModuleOf('agent') {
  @Saved() mood = 'calm';
  @Saved() plan: { step: number } | null = null;
  @SavedList() messages: string[] = [];
  notSaved = 0;
}

class Expert extends Agent {
  @Saved() subject = 'none';
}

function open(): ComponentSession {
  return new ComponentSession({ store: new InMemoryComponentStore() });
}

describe('A state module', () => {
  it('saves and loads its own fields and those of the class it extends', async () => {
    const components = open();
    const saved = Object.assign(new Expert(), {
      mood: 'wild',
      plan: { step: 2 },
      subject: 'tea',
      messages: ['a'],
      notSaved: 9,
    });
    await saved.saveTo(components, 's');
    const loaded = new Expert();
    await loaded.loadFrom(components, 's');
    expect({ ...loaded }).toEqual({ mood: 'wild', plan: { step: 2 }, subject: 'tea', messages: ['a'], notSaved: 0 });
  });

  it('says what is missing, or false', async () => {
    const agent = Object.assign(new Agent(), { mood: 'mine' });
    await expect(agent.loadFrom(open(), 's')).rejects.toThrow(ComponentNotFoundError);
    expect([await agent.loadIfExists(open(), 's'), agent.mood]).toEqual([false, 'mine']);
  });

  it.each([[[1, 2]], [null], ['text']])(
    'refuses what is no object of fields, and stays as it is: %j',
    async (value) => {
      const components = open();
      await components.save('s', 'agent', value);
      const agent = Object.assign(new Agent(), { mood: 'mine' });
      await expect(agent.loadIfExists(components, 's')).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'agent' });
      expect(agent.mood).toBe('mine');
    },
  );

  it('keeps fields that were saved before they were there', async () => {
    const components = open();
    await new Agent().saveTo(components, 's');
    const expert = Object.assign(new Expert(), { subject: 'default' });
    await expert.loadFrom(components, 's');
    expect(expert.subject).toBe('default');
  });

  it('overwrites, fails or merges when two objects changed', async () => {
    const components = open();
    await Object.assign(new Agent(), { messages: ['a'] }).saveTo(components, 's');
    const [one, two] = [new Agent(), new Agent()];
    for (const agent of [one, two]) await agent.loadFrom(components, 's');
    one.messages.push('one');
    two.messages.push('two');
    await one.saveTo(components, 's', { onConflict: 'fail' });
    await expect(two.saveTo(components, 's', { onConflict: 'fail' })).rejects.toThrow(ComponentConflictError);
    await two.saveTo(components, 's', { onConflict: 'append-merge' });
    expect(await components.getList('s', 'agent.messages')).toEqual(['a', 'one', 'two']);
    one.mood = 'wild';
    await one.saveTo(components, 's', { onConflict: 'append-merge' });
    two.mood = 'sad';
    await expect(two.saveTo(components, 's', { onConflict: 'append-merge' })).rejects.toThrow(ComponentConflictError);
    await two.saveTo(components, 's');
    expect(await components.get('s', 'agent')).toMatchObject({ mood: 'sad' });
  });
});

describe('A state module', () => {
  it('refuses a class of which nothing is saved', async () => {
    class Forgotten extends StateModuleOf('forgotten') {
      mood = 'calm';
    }
    const components = open();
    const refused = {
      code: 'INVALID_INPUT',
      path: 'Forgotten',
      message: expect.stringContaining('@Saved()') as string,
    };
    await expect(new Forgotten().saveTo(components, 's')).rejects.toMatchObject(refused);
    await components.save('s', 'forgotten', {});
    await expect(new Forgotten().loadFrom(components, 's')).rejects.toMatchObject(refused);
    await expect(new Forgotten().loadIfExists(components, 's')).rejects.toMatchObject(refused);
  });

  it('saves a list under the name that another program chose', async () => {
    class Memory extends StateModuleOf('memory') {
      @SavedList({ name: 'memory_messages' }) messages: string[] = [];
    }
    const components = open();
    await Object.assign(new Memory(), { messages: ['a'] }).saveTo(components, 's');
    await components.append('s', 'memory_messages', ['b']);
    const memory = new Memory();
    await memory.loadFrom(components, 's');
    expect(memory.messages).toEqual(['a', 'b']);
    expect(await components.listNames('s')).toEqual(['memory', 'memory_messages']);
  });

  it('finds lists that are there without its value, and leaves them where another program has them', async () => {
    class Memory extends StateModuleOf('memory') {
      @SavedList() messages: string[] = [];
      @Saved() mood = 'default';
    }
    const components = open();
    await components.saveList('s', 'memory_messages', ['theirs']);
    const memory = new Memory();
    expect(await memory.loadIfExists(components, 's')).toBe(true);
    expect({ ...memory }).toEqual({ messages: ['theirs'], mood: 'default' });
    memory.messages.push('ours');
    await memory.saveTo(components, 's', { onConflict: 'fail' });
    expect(await components.getList('s', 'memory_messages')).toEqual(['theirs', 'ours']);
    expect(await components.listNames('s')).toEqual(['memory', 'memory_messages']);
  });

  it('finds a list that was a part of its value', async () => {
    const components = open();
    await components.save('s', 'agent', { mood: 'wild', messages: ['a'] });
    const agent = new Agent();
    await agent.loadFrom(components, 's');
    expect([agent.mood, agent.messages]).toEqual(['wild', ['a']]);
    agent.messages.push('b');
    await agent.saveTo(components, 's', { onConflict: 'append-merge' });
    expect(await components.getList('s', 'agent.messages')).toEqual(['a', 'b']);
    expect(await components.get('s', 'agent')).toEqual({ mood: 'wild', plan: null });
  });
});

async function twoAgents(): Promise<{ components: ComponentSession; one: Agent; two: Agent }> {
  const components = open();
  await Object.assign(new Agent(), { messages: ['a'] }).saveTo(components, 's');
  const [one, two] = [new Agent(), new Agent()];
  for (const agent of [one, two]) await agent.loadFrom(components, 's');
  return { components, one, two };
}

describe('A merge of a state module', () => {
  const merge = { onConflict: 'append-merge' } as const;

  it('keeps fields that only others changed, and the items of all, however often it is repeated', async () => {
    const { components, one, two } = await twoAgents();
    Object.assign(one, { mood: 'wild' }).messages.push('one');
    Object.assign(two, { plan: { step: 2 } }).messages.push('two');
    await one.saveTo(components, 's', merge);
    for (let round = 0; round < 3; round++) {
      await two.saveTo(components, 's', merge);
      expect(await components.get('s', 'agent')).toEqual({ mood: 'wild', plan: { step: 2 } });
      expect(await components.getList('s', 'agent.messages')).toEqual(['a', 'one', 'two']);
    }
    two.messages.push('three');
    await two.saveTo(components, 's', merge);
    expect(await components.getList('s', 'agent.messages')).toEqual(['a', 'one', 'two', 'three']);
  });

  it('repeats no item after it failed', async () => {
    const { components, one, two } = await twoAgents();
    Object.assign(one, { mood: 'wild' });
    Object.assign(two, { mood: 'sad' }).messages.push('two');
    await one.saveTo(components, 's', merge);
    for (let round = 0; round < 2; round++)
      await expect(two.saveTo(components, 's', merge)).rejects.toThrow(ComponentConflictError);
    expect(await components.getList('s', 'agent.messages')).toEqual(['a', 'two']);
    expect(await components.get('s', 'agent')).toMatchObject({ mood: 'wild' });
  });

  it('conflicts about a field that it kept of others, and has not seen', async () => {
    const { components, one, two } = await twoAgents();
    one.mood = 'wild';
    two.plan = { step: 2 };
    await one.saveTo(components, 's', merge);
    await two.saveTo(components, 's', merge);
    two.mood = 'sad';
    await expect(two.saveTo(components, 's', merge)).rejects.toThrow(ComponentConflictError);
  });

  it('changes an item that it has if nobody else wrote, also after a save', async () => {
    const { components, one } = await twoAgents();
    one.messages = [];
    const other = new Agent();
    for (const messages of [[], ['x'], ['y'], ['y', 'z'], ['z']]) {
      Object.assign(other, { messages });
      await other.saveTo(components, 'alone', merge);
      expect(await components.getList('alone', 'agent.messages')).toEqual(messages);
    }
  });

  it('keeps fields of other programs, in whatever order they are, with each policy', async () => {
    const components = open();
    await components.save('s', 'agent', { plan: null, mood: 'calm', id: 7 });
    const [unchanged, plain] = [new Agent(), new Agent()];
    for (const agent of [unchanged, plain]) await agent.loadFrom(components, 's');
    await components.save('s', 'agent', { plan: { step: 9 }, mood: 'calm', id: 7 });
    await unchanged.saveTo(components, 's', merge);
    expect(await components.get('s', 'agent')).toEqual({ plan: { step: 9 }, mood: 'calm', id: 7 });
    await plain.saveTo(components, 's');
    expect(await components.get('s', 'agent')).toEqual({ plan: null, mood: 'calm', id: 7 });
  });

  it.each([
    ['a value that is no JSON', { mood: 1n }, {}],
    ['a list that is none', { messages: 'x' }, {}],
    ['a misspelled option', {}, { onconflict: 'fail' }],
    ['an unknown policy', {}, { onConflict: 'merge' }],
  ])('refuses %s before it writes', async (_what, fields, options) => {
    const components = open();
    const agent = Object.assign(new Agent(), { messages: ['x'] }, fields);
    await expect(agent.saveTo(components, 's', options as never)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect(await components.listNames('s')).toEqual([]);
  });
});

describe('A component manager', () => {
  it('saves, loads and deletes several components together', async () => {
    const components = open();
    const agent = Object.assign(new Agent(), { mood: 'wild' });
    const manager = ComponentManager.forSession('s').in(components).add(agent);
    expect([await manager.exists(), await manager.saveIfExists(), await manager.loadIfExists()]).toEqual([
      false,
      false,
      false,
    ]);
    await expect(manager.load()).rejects.toThrow(ComponentNotFoundError);
    await manager.save();
    class Memory extends StateModuleOf('memory') {
      @Saved() facts = ['unchanged'];
    }
    const [other, memory] = [new Agent(), new Memory()];
    await ComponentManager.forSession('s').in(components).add(other, memory).load();
    expect([other.mood, memory.facts]).toEqual(['wild', ['unchanged']]);
    await manager.delete();
    await expect(manager.delete()).rejects.toThrow(ComponentNotFoundError);
    expect(await manager.deleteIfExists()).toBe(false);
  });

  it('says what it lacks', async () => {
    await expect(async () => ComponentManager.forSession('s').save()).rejects.toThrow('in(components)');
    expect(() => ComponentManager.forSession('')).toThrow('session');
    expect(() => ComponentManager.forSession('s').add({} as Agent)).toThrow('modules[0]');
  });

  it('refuses a second component of the same name, which would replace the first', async () => {
    const components = open();
    const manager = ComponentManager.forSession('s').in(components);
    expect(() => manager.add(new Agent(), new Expert())).toThrow('modules[1]: is the second one with the name "agent"');
    manager.add(new Agent());
    expect(() => manager.add(new Expert())).toThrow('give it a name of its own with StateModuleOf');
    const own = { saveTo: jest.fn(), loadFrom: jest.fn(), loadIfExists: jest.fn() };
    await manager.add(own, { ...own }).save();
    expect(own.saveTo).toHaveBeenCalledTimes(2);
    expect(await components.listNames('s')).toEqual(['agent', 'agent.messages']);
  });
});
