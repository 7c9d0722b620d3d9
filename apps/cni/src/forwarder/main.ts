import { openNetfilter } from '@kube-ovn/netfilter'
import { openNetlink, readSysctl } from '@kube-ovn/netlink'
import { createLogger, processConfig, runUntilSignal } from '@kube-ovn/process'
import { command } from './config.ts'
import { forward } from './forward.ts'

const config = processConfig(command)
const log = createLogger({ app: 'forwarder', verbosity: config.v })
await runUntilSignal(log, async (signal) => {
  using netlink = openNetlink()
  const namespace = {
    netfilter: openNetfilter(),
    netlink,
    readSysctl: (key: string) => readSysctl(undefined, key),
  }
  await forward(config, namespace, log, signal)
})
