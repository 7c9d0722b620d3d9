import { nodeNicName } from '@kube-ovn/features-node'

/** Codes of the CNI specification for a plugin that cannot serve ADD. */
const notAvailable = 50
const notAvailableAndImpaired = 51

/** What has to be there before pods can be attached. */
export interface ReadinessFacts {
  readonly isDatabaseConnected: boolean
  /** Names of caches that the API server has not filled yet. */
  readonly unsynced: readonly string[]
  readonly isTunnelKnown: boolean
  readonly isNodeNicInstalled: boolean
}

export interface Readiness {
  /** What is missing; nothing when pods can be attached. */
  readonly reasons: readonly string[]
  /** CNI error code: says whether pods that are attached suffer too. */
  readonly code: number
}

/** Says what is missing, in words for an operator. */
export function judgeReadiness(facts: ReadinessFacts): Readiness {
  const reasons = [
    facts.isDatabaseConnected ? [] : ['the local Open vSwitch database does not answer'],
    facts.unsynced.map((name) => `the API server has not sent the ${name} yet`),
    facts.isTunnelKnown ? [] : ['the end of the tunnels is not known'],
    facts.isNodeNicInstalled ? [] : [`the flows of ${nodeNicName} are not installed`],
  ].flat()
  return { reasons, code: facts.isDatabaseConnected ? notAvailable : notAvailableAndImpaired }
}
