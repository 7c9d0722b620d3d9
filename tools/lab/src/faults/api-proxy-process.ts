import { readFileSync } from 'node:fs'
import { ApiProxy, type ApiFault, type ApiProxyOptions } from '@kube-ovn/testing-kube'

/** What the process is told by its only argument, a file. */
export interface ApiProxyOrder {
  readonly options: ApiProxyOptions
  readonly faults: readonly ApiFault[]
}

const order = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as ApiProxyOrder
const proxy = await ApiProxy.open(order.options)
proxy.faults = order.faults
process.stdout.write('ready\n')
