import { KubeOvnError, refusalOf, type Refused, type RetryClass } from '@kube-ovn/errors'

/** Says which field of a Subnet can not be used, and what would be right. */
export interface SubnetProblem extends Refused {
  readonly subnet: string
}

/** Refuses a Subnet whose own fields contradict each other or the rules of the field. */
export class SubnetInvalidError extends KubeOvnError<SubnetProblem> {
  readonly code = 'subnet-invalid'
  readonly retry: RetryClass = 'on-change'

  constructor(details: SubnetProblem, options?: ErrorOptions) {
    super('subnet is invalid', details, options)
  }
}

/** Refuses a Subnet that can not exist beside another one, or beside a node. */
export class SubnetConflictError extends KubeOvnError<SubnetProblem & { readonly conflictsWith: string }> {
  readonly code = 'subnet-conflict'
  readonly retry: RetryClass = 'on-change'

  constructor(details: SubnetProblem & { readonly conflictsWith: string }) {
    super('subnet conflicts with something that exists', details)
  }
}

/** Refuses a Subnet that asks for what this version does not build. */
export class SubnetUnsupportedError extends KubeOvnError<SubnetProblem> {
  readonly code = 'subnet-unsupported'
  readonly retry: RetryClass = 'on-change'

  constructor(details: SubnetProblem) {
    super('subnet needs a feature that this version does not have', details)
  }
}

/** Refuses a part of a Vpc; the rest of it is carried out. */
export class VpcInvalidError extends KubeOvnError<Refused> {
  readonly code = 'vpc-invalid'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Refused) {
    super('a part of the Vpc can not be carried out', details)
  }
}

/** Refuses a text of options that are no pairs. */
export class OptionTextError extends KubeOvnError<Refused> {
  readonly code = 'option-text-invalid'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Refused) {
    super('options are malformed', details)
  }
}

/** Why a Subnet can not be used. */
export type SubnetError = SubnetInvalidError | SubnetConflictError | SubnetUnsupportedError

export function isSubnetError(error: unknown): error is SubnetError {
  return error instanceof KubeOvnError && error.code.startsWith('subnet-')
}

/** Tells a user in one sentence what is wrong and what to do. */
export function subnetProblemText(problem: Refused): string {
  return `${problem.field} ${JSON.stringify(problem.value)}: ${problem.cure}`
}

/** Runs a parser and says which subnet its complaint is about. */
export function inSubnet<T>(subnet: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new SubnetInvalidError({ subnet, ...refusalOf(error) }, { cause: error })
  }
}
