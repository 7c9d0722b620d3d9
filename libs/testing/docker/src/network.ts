import { onceOnMachine } from './command.ts'

/** Containers of tests carry it, so that what a crash left behind can be found. */
export const testLabel = 'kube-ovn.test=1'

/** Internal: no packet of a test leaves the machine. The host reaches the containers' addresses directly. */
export const testNetwork = 'kube-ovn-test'

/** Docker lets two networks have one name, so workers that start together must not both find none. */
const script =
  'docker network inspect "$1" >/dev/null 2>&1 || docker network create --internal --label "$2" "$1"'

/**
 * Makes sure that the network of the test containers exists. It is left for the next test.
 *
 * Throws {@link CommandFailedError}.
 */
export function ensureTestNetwork(): Promise<void> {
  return onceOnMachine(script, [testNetwork, testLabel])
}
