import type { NicQos, NicRate } from '@kube-ovn/annotations'
import { KubeOvnError, type Refused } from '@kube-ovn/errors'
import type { PortQos, PortShaping } from '../sinks/port-qos.ts'

/** Says what of the quality of service of a NIC is not done, and why. */
export class QosInvalidError extends KubeOvnError<
  Refused & {
    /** Of the Pod, `namespace/name`; empty where it is the node's own. */
    readonly pod: string
    readonly stage: 'bandwidth' | 'netem'
  }
> {
  readonly code = 'qos-invalid'
  readonly retry = 'on-change'

  constructor(details: QosInvalidError['details']) {
    super('quality of service is not as asked for', details)
  }
}

/** What a port is to be like, and what of the wishes is not done. */
export interface DesiredQos {
  readonly policing: PortQos['policing']
  readonly shaping: PortShaping | undefined
  readonly problem: QosInvalidError | undefined
}

/** Who asks. */
interface Asking {
  readonly pod: string
  /** Gives the key of an annotation by its name. */
  readonly keyOf: (name: string) => string
}

/** A NIC receives what its port sends: `ingress` of the one is the egress of the other. */
export function desiredQos(qos: NicQos, asking: Asking): DesiredQos {
  return {
    policing: policingOf(qos.egress),
    shaping: shapingOf(qos),
    problem: problemOf(qos, asking),
  }
}

/** In kbit/s and kbit; of nothing said, four fifths of a second's worth may come at once. */
function policingOf(egress: NicRate | undefined): PortQos['policing'] {
  if (egress === undefined) return { rate: 0, burst: 0 }
  const { rate, burst } = egress
  return { rate: rate * 1000, burst: burst === undefined ? rate * 800 : burst * 1000 }
}

/** A port has one queueing discipline: a rate goes before what is bad on purpose. */
function shapingOf({ ingress, disturbance }: NicQos): PortShaping | undefined {
  if (ingress !== undefined) {
    const bits = ingress.rate * 1_000_000
    const bytes = ingress.burst === undefined ? bits / 10 : ingress.burst * 125_000
    return { type: 'linux-htb', queue: { 'max-rate': String(bits), burst: String(bytes) } }
  }
  const { latency, jitter, limit, loss } = disturbance
  const config = {
    ...(latency === undefined ? {} : { latency: String(latency * 1000) }),
    ...(jitter === undefined ? {} : { jitter: String(jitter * 1000) }),
    ...(limit === undefined ? {} : { limit: String(limit) }),
    ...(loss === undefined ? {} : { loss: String(loss) }),
  }
  return Object.keys(config).length === 0 ? undefined : { type: 'linux-netem', config }
}

function problemOf(
  { ingress, disturbance, problems }: NicQos,
  { pod, keyOf }: Asking,
): QosInvalidError | undefined {
  const refused = problems.map(({ details }) => details)
  const stageOf = (field: string): 'bandwidth' | 'netem' =>
    /_(rate|burst)$/.test(field) ? 'bandwidth' : 'netem'
  const beside = Object.entries(disturbance)
  const all: readonly Refused[] =
    ingress === undefined || beside.length === 0
      ? refused
      : [
          ...refused,
          {
            field: beside.map(([name]) => keyOf(name)).join(),
            value: beside.map(([, value]) => value).join(),
            cure: `remove it, or ${keyOf('ingress_rate')}: a port has one of the two`,
          },
        ]
  const [first] = all
  if (first === undefined) return undefined
  const told = (name: keyof Refused): string => [...new Set(all.map((one) => one[name]))].join('; ')
  return new QosInvalidError({
    ...{ pod, stage: stageOf(first.field), field: told('field'), value: told('value'), cure: told('cure') },
  })
}
