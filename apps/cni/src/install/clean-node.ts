import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '@kube-ovn/process'
import {
  giveNicsBack,
  isHostNicName,
  localOvsTables,
  nodeNicName,
  removeOwnPorts,
  removeProbePath,
  type OwnPorts,
} from '@kube-ovn/features-node'
import type { Logger } from '@kube-ovn/log'
import { isOwnTable } from '@kube-ovn/fragments'
import { openNetfilter } from '@kube-ovn/netfilter'
import { openNetlink } from '@kube-ovn/netlink'
import { openVswitchSchema, type OpenVswitch } from '@kube-ovn/ovsdb-schema'
import { OvsdbClient } from 'ovsdb-client'
import type { InstallConfig } from './config.ts'
import { removeCommand } from './install-command.ts'

/** How long the database may take to answer before it is taken to be gone. */
const databaseTimeoutMs = 10_000

/**
 * Takes everything of the product off the node, in the order in which nothing new can appear: first what makes the
 * runtime ask us, then ports, links and rules.
 *
 * Every step does what it can: that a part is gone already, or does not answer, is not a failure.
 */
export async function cleanNode(config: InstallConfig, log: Logger): Promise<void> {
  for (const path of [
    join(config.cniConfDir, config.cniConfName),
    join(config.cniBinDir, 'kube-ovn'),
    config.serverSocket,
  ]) {
    if (!existsSync(path)) continue
    rmSync(path, { force: true })
    log.info('file removed', { path })
  }
  removeCommand(config, log)
  const ports = await removePorts(config, log)
  removeLinks(ports, log)
  await removeTables(log)
}

/** Of those of links in the pods' way, the first ones are gone with their links. */
async function removeTables(log: Logger): Promise<void> {
  const netfilter = openNetfilter()
  for (const table of await netfilter.listTables()) {
    if (!isOwnTable(table)) continue
    await netfilter.removeTable(table)
    log.info('packet filter removed', { table: `${table.family} ${table.name}` })
  }
}

async function removePorts(config: InstallConfig, log: Logger): Promise<OwnPorts> {
  const none = { ports: [], bridges: [] }
  if (!existsSync(config.ovsSocket)) return none
  await using ovs = new OvsdbClient<OpenVswitch>({
    endpoints: [`unix:${config.ovsSocket}`],
    schema: openVswitchSchema,
    tables: localOvsTables,
  })
  try {
    await ovs.connect(AbortSignal.timeout(databaseTimeoutMs))
    using host = openNetlink()
    // Before their bridges go, and with these what leads to the node.
    await giveNicsBack({ ovs, host, clock: systemClock, log })
    const removed = await removeOwnPorts(ovs)
    log.info('ports removed', { ports: removed.ports, bridges: removed.bridges })
    return removed
  } catch (error) {
    log.warn('ports were not removed: the database does not answer', { err: error })
    return none
  }
}

/** Routes and addresses go with their link. ovn0 is vswitchd's; without vswitchd nobody else removes it. */
function removeLinks({ ports }: OwnPorts, log: Logger): void {
  using host = openNetlink()
  for (const what of removeProbePath(host)) log.info('way to probed pods removed', { what })
  const names = new Set(ports)
  for (const link of host.links()) {
    const isHostEnd = link.kind === 'veth' && (names.has(link.name) || isHostNicName(link.name))
    if (!isHostEnd && link.name !== nodeNicName) continue
    host.removeLink(link.index)
    log.info('link removed', { link: link.name })
  }
}
