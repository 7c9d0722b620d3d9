import type { KubeObject } from '@kube-ovn/kube'
import { rowTable } from '@kube-ovn/tables'
import { ipPools, subnets } from '../sources.ts'

/** Which object of a name it is, and whether it is about to go. */
interface Life {
  readonly uid: string
  readonly isEnding: boolean
}

/** The Subnets that there are, whatever they say: for those whom it does not concern what that is. */
export const subnetLives = rowTable({ name: 'subnet-lives', of: subnets, row: lifeOf })

/** The same of IPPools. */
export const ipPoolLives = rowTable({ name: 'ip-pool-lives', of: ipPools, row: lifeOf })

function lifeOf({ metadata: { uid = '', deletionTimestamp } }: KubeObject): Life {
  return { uid, isEnding: deletionTimestamp !== undefined }
}
