/** How many nodes and pods are to exist in the API and the Southbound only. */
export interface FakePlan {
  readonly nodes: number
  readonly pods: number
}

/** More would not fit into the ranges of nodes and pods. */
export const maxFakeNodes = 1000
export const maxFakePods = 50_000

/** The namespace of the fake pods that the command line asks for. */
export const fakeNamespace = 'fake'
