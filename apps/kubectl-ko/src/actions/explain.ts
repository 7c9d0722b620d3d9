import { services } from '@kube-ovn/kube'
import type { Command } from 'commander'
import type { Cluster } from '../cluster.ts'
import { findLeader } from '../components.ts'
import { openCluster, outputOf, print, type Context } from '../context.ts'
import { ObjectMissingError } from '../errors.ts'
import { packetText, type LoggedPacket } from '../explain/acl-log.ts'
import {
  aclsOf,
  northboundRows,
  rowsOfObject,
  sampledAcls,
  strangersOf,
  type ExplainedRow,
} from '../explain/northbound.ts'
import { parseQuestion, type Question } from '../explain/question.ts'
import { explainSouthbound } from '../explain/southbound.ts'
import { sharedEntries } from '../explain/service-entries.ts'
import { unmetOf, type Unmet } from '../explain/unmet.ts'
import { readAddressFacts } from '../facts.ts'
import { claimsOf } from '../ipam/claims.ts'
import { render, renderTable, type Column, type OutputChoice } from '../output.ts'

const columns: readonly Column<ExplainedRow>[] = [
  { title: 'table', of: ({ table }) => table },
  { title: 'row', of: ({ row }) => row.slice(0, 8) },
  { title: 'name', of: ({ name }) => name },
  { title: 'owner', of: ({ owner }) => owner },
  { title: 'is', of: ({ id }) => id },
  { title: 'flows', of: ({ flows }) => (flows === undefined ? '' : String(flows)) },
  { title: 'rule', of: ({ rule }) => rule },
  { title: 'content', of: ({ content }) => content, isWide: true },
]

const unmetColumns: readonly Column<Unmet>[] = [
  { title: 'unmet', of: ({ from }) => from },
  { title: 'what', of: ({ what }) => what },
]

/** Tells what a row, a flow, a logged packet or an object is about; without a question, which rows are of nobody. */
export async function explain(context: Context, command: Command, text: string | undefined): Promise<void> {
  const question = text === undefined ? undefined : parseQuestion(text)
  await using cluster = await openCluster(context, command)
  const choice = outputOf(command)
  if (question === undefined) return await tellStrangers(context, cluster, choice)
  const answer = await answerTo(cluster, question, text ?? '')
  const { rows, unmet, packet } = answer
  const isData = choice.output === 'json' || choice.output === 'yaml'
  if (packet !== undefined && !isData) print(context, `${packet}\n\n`)
  const empty = `no row of the Northbound is of ${question.kind === 'packet' ? `an ACL ${question.packet.name || 'without a name'}` : (text ?? '')}`
  const shown = columns.filter(
    ({ title }) => title !== 'flows' || rows.some(({ flows }) => flows !== undefined),
  )
  print(context, render({ data: answer, rows, columns: shown, empty }, choice))
  if (question.kind === 'object' && !isData) print(context, flowsText(rows))
  if (unmet.length > 0 && !isData)
    print(context, `\n${renderTable(unmet, unmetColumns, { hasHeaders: choice.headers })}`)
  if (rows.length === 0 || unmet.length > 0) context.exitCode = 1
}

/** What the ACLs of an object come to, where it has any. */
function flowsText(rows: readonly ExplainedRow[]): string {
  const all = rows.flatMap(({ flows }) => (flows === undefined ? [] : [flows]))
  const sum = all.reduce((total, flows) => total + flows, 0)
  return all.length === 0 ? '' : `\nAt most ${sum} OpenFlow rules on a node that has one of its ports.\n`
}

/** Of flows that ovn-controller makes for all alike. */
const noCookie = '00000000'
const ofNobody: ExplainedRow = {
  ...{ table: 'OpenFlow', row: noCookie, name: '', owner: 'ovn-controller' },
  ...{ id: 'made for all alike', rule: '', content: '' },
}

interface Answer {
  readonly rows: readonly ExplainedRow[]
  readonly unmet: readonly Unmet[]
  /** What was logged, in words. */
  readonly packet?: string
}

async function answerTo(cluster: Cluster, question: Question, text: string): Promise<Answer> {
  const northbound = await findLeader(cluster, 'nb')
  switch (question.kind) {
    case 'object': {
      const { of, key } = question
      const isService = 'kind' in of && of.kind === services.kind
      const [rows, entries, unmet] = await Promise.all([
        rowsOfObject(cluster, northbound, of, key),
        isService ? sharedEntries(cluster, northbound, key) : [],
        unmetOf(cluster, of, key),
      ])
      return { rows: [...rows, ...entries], unmet }
    }
    case 'sample':
      return { rows: await sampledAcls(cluster, northbound, question.cookie), unmet: [] }
    case 'packet': {
      const [rows, packet] = await Promise.all([
        aclsOf(cluster, northbound, question.packet),
        wordsOf(cluster, question.packet),
      ])
      return { rows, unmet: [], packet }
    }
    case 'row': {
      if (question.id === noCookie) return { rows: [ofNobody], unmet: [] }
      const own = await northboundRows(cluster, northbound, question.id)
      const rows =
        own.length > 0
          ? own
          : await explainSouthbound(cluster, northbound, await findLeader(cluster, 'sb'), question.id)
      if (rows.length > 0) return { rows, unmet: [] }
      throw new ObjectMissingError('row', text, 'write it as ovn-nbctl, ovn-sbctl or ovs-ofctl shows it')
    }
  }
}

/** What was logged, with those who have the addresses now. */
async function wordsOf(cluster: Cluster, packet: LoggedPacket): Promise<string> {
  const claims = claimsOf(await readAddressFacts(cluster)).filter(({ kind }) => kind !== 'IP')
  return packetText(packet, (address) =>
    claims.filter((claim) => claim.address === address).map(({ kind, name }) => `${kind} ${name}`),
  )
}

async function tellStrangers(context: Context, cluster: Cluster, choice: OutputChoice): Promise<void> {
  const { rows, strangers } = await strangersOf(cluster, await findLeader(cluster, 'nb'))
  const empty = `each of ${rows} rows is of an object`
  print(context, render({ data: { rows, strangers }, rows: strangers, columns, empty }, choice))
  if (strangers.length > 0) context.exitCode = 1
}
