import { KubeOvnError } from '@kube-ovn/errors'

/** Reads a part of a policy; `undefined` where it can not be read. */
export type Tried = <T>(read: () => T) => T | undefined

/** Reads parts of a policy, and notes why one can not be read: it takes no effect from the others. */
export function notingProblems(problems: KubeOvnError[]): Tried {
  return (read) => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof KubeOvnError)) throw error
      problems.push(error as KubeOvnError)
      return undefined
    }
  }
}
