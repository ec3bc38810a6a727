import { Catch, type ExceptionFilter } from '@nestjs/common';
import type { GraphQLError } from 'graphql';
import { graphqlErrorOf } from './graphql-errors.js';

/** Answers the errors of resolvers, and of what an app puts in front of them, with their codes and nothing else. */
@Catch()
export class GraphqlProblemFilter implements ExceptionFilter {
  catch(error: unknown): GraphQLError {
    return graphqlErrorOf(error);
  }
}
