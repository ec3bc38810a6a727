import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOperation } from '@nestjs/swagger';
import { ApiEventStream, ApiProblem, ApiProblems } from '../../sessions/rest/index.js';

const INPUT = {
  type: 'object',
  description: 'A `RunAgentInput` of AG-UI.',
  required: ['threadId', 'runId'],
  properties: {
    threadId: { type: 'string', description: 'The id of the session.' },
    runId: { type: 'string' },
    messages: { type: 'array', items: { type: 'object' } },
    resume: { type: 'array', items: { type: 'object' }, description: 'Answers to interrupts.' },
    tools: { type: 'array', items: { type: 'object' } },
    context: { type: 'array', items: { type: 'object' } },
    state: {},
    forwardedProps: {},
  },
};

const THREAD = { threadId: 'order-7', runId: 'run-1' };
const MESSAGES = [{ id: 'm-1', role: 'user', content: 'Where is my order?' }];
const EXAMPLE = `data: ${JSON.stringify({ type: 'RUN_STARTED', ...THREAD })}\n\n`;

/** Documents the route that runs an agent. */
export const ApiAgUiRun = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'runAsAgUi',
      summary: 'Runs the agent with what is new in the input, and streams the run as AG-UI',
      description: 'Creates the session if there is none. The agent goes on if the connection breaks.',
    }),
    ApiBody({ schema: { ...INPUT, example: { ...THREAD, messages: MESSAGES } } }),
    ApiEventStream('The run, in events of AG-UI.', EXAMPLE),
    ApiProblems(403, 413, 415),
    ApiProblem(404, {
      code: 'AGENT_NOT_FOUND',
      description: 'No agent answers messages of this app, or you may not see the session.',
    }),
    ApiProblem(409, { code: 'TURN_HELD', description: 'Another turn runs, and the policy is `reject`.' }),
  );

/** Documents the route that shows a thread. */
export const ApiAgUiConnect = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'connectAsAgUi',
      summary: 'Shows a thread as AG-UI, and the runs that go on in it',
      description:
        'With `live=false` it ends when no run goes on. `Last-Event-ID` continues a stream. A thread that nobody has begun is empty.',
    }),
    ApiBody({ schema: { ...INPUT, example: THREAD } }),
    ApiEventStream('The conversation and the state, then what happens, in events of AG-UI.', EXAMPLE),
    ApiProblems(404, 413, 415),
  );
