import { chartCrds, foreignCrds, startKubeApi } from '@kube-ovn/testing-kube'
import type { KubeApi } from '@kube-ovn/testing-kube'
import { startNorthbound } from '@kube-ovn/testing-ovsdb'
import type { Northbound } from '@kube-ovn/testing-ovsdb'
import { advertiseAddress, serviceRange } from '@kube-ovn/testing-golden'
import type { GoldenCase, Profile } from '@kube-ovn/testing-golden'

/** A real API server and a real Northbound with northd, shared by the cases of one profile. */
export interface Stage extends AsyncDisposable {
  readonly kube: KubeApi
  readonly northbound: Northbound
  /** Of the ServiceAccount that the chart gives the controller. */
  readonly controllerKubeconfig: string
  /** Empties both. */
  reset(): Promise<void>
}

export async function startStage(profile: Profile): Promise<Stage> {
  await using stack = new AsyncDisposableStack()
  const [kube, northbound] = await Promise.all([
    startKubeApi({
      controllerManager: true,
      serviceClusterIpRange: serviceRange(profile),
      advertiseAddress: advertiseAddress(profile),
      crds: [chartCrds, foreignCrds],
      accounts: {},
    }).then((started) => stack.use(started)),
    startNorthbound({ northd: true }).then((started) => stack.use(started)),
  ])
  const controllerKubeconfig = await kube.accountKubeconfig('kube-system/ovn')
  const owned = stack.move()
  return {
    kube,
    northbound,
    controllerKubeconfig,
    async reset() {
      await Promise.all([kube.reset(), northbound.reset()])
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Cases by profile, since a cluster has one range of Service addresses. */
export function groupByProfile(cases: readonly GoldenCase[]): ReadonlyMap<Profile, readonly GoldenCase[]> {
  return Map.groupBy(cases, ({ profile }) => profile)
}
