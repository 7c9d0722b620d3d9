import { KubeOvnError } from '@kube-ovn/errors'
import type { Subnet, SubnetSpec } from '@kube-ovn/kube-api'

/** What asks for something that can not be; what was there before stays. */
export const unusable = 'unusable'

/** Has a table say what Subnets ask for in one respect, or that it can not be. Their conditions tell why: whoever writes these meets it again. */
export function aspectOf<T>(
  resolve: (subnet: string, spec: SubnetSpec) => T,
): (subnet: Subnet, views: unknown, name: string) => T | typeof unusable {
  return ({ spec = {} }, _views, name) => {
    try {
      return resolve(name, spec)
    } catch (error) {
      if (error instanceof KubeOvnError) return unusable
      throw error
    }
  }
}
