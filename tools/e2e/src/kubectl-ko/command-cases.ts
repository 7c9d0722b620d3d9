/** What command lines are about; names of the suite's pods are known when it runs. */
export interface Subjects {
  readonly web: string
  readonly address: string
  readonly node: string
}

interface Wrong {
  readonly words: readonly string[]
  readonly exitCode: number
  /** In one sentence, which ends with what to do. */
  readonly says: RegExp
}

/** What is expected of one command. */
export interface CommandCase {
  /** Words behind its name, and what it then prints; `undefined` where another file of the suite runs it. */
  readonly text?: { readonly words: readonly string[]; readonly says: RegExp; readonly exitCode?: number }
  /** The same for programs: what JSON has, in the tool's own format where it passes one on; none where there is no such format. */
  readonly json?: { readonly words: readonly string[]; readonly has: RegExp; readonly exitCode?: number }
  readonly bad: readonly Wrong[]
}

const unknownNode = (...more: readonly string[]): Wrong => ({
  words: ['no-such-node', ...more],
  exitCode: 1,
  says: /value=no-such-node\).*kubectl get nodes/,
})
const noNode: Wrong = { words: [], exitCode: 2, says: /field=node.*write kubectl ko \w+ NODE/ }
const wrongFlag: Wrong = { words: ['--wrong'], exitCode: 2, says: /unknown option '--wrong'/ }
const wrongFormat: Wrong = {
  words: ['-o', 'xml'],
  exitCode: 2,
  says: /Allowed choices are table, wide, json, yaml/,
}
const unknownPod = (...more: readonly string[]): Wrong => ({
  words: ['shop/no-such-pod', ...more],
  exitCode: 1,
  says: /value=shop\/no-such-pod\).*kubectl -n shop get pods/,
})
const noInterconnection: Wrong = {
  words: ['show'],
  exitCode: 1,
  says: /leader not exists \(field=ic \w+\).*none has a pod labelled ovn-ic-/,
}
const noDatabase = (field: string): Wrong => ({ words: ['--wrong'], exitCode: 2, says: new RegExp(field) })

/** Of every command that the program has. */
export function commandCases({ web, address, node }: Subjects): Readonly<Record<string, CommandCase>> {
  const anything = { words: ['-o', 'json'], has: /^[[{]/ }
  return {
    status: {
      text: { words: [], says: /^LEADER OF +IS\nOVN_Northbound +ovn-central-/m },
      json: { words: ['-o', 'json'], has: /"northd": "ovn-central-/ },
      bad: [wrongFlag, wrongFormat],
    },
    top: {
      text: { words: [], says: /^NODE +READY/m },
      json: { words: ['-o', 'json'], has: /"leaders": \{/ },
      bad: [wrongFlag, wrongFormat],
    },
    why: {
      text: { words: [web], says: /nothing is missing/ },
      json: { words: [web, '-o', 'json'], has: /"verdict": "nothing is missing"/ },
      bad: [unknownPod(), { words: [`node//${node}`], exitCode: 2, says: /write NAMESPACE\/POD or POD/ }],
    },
    explain: {
      text: { words: [`pod/${web}`], says: /^Logical_Switch_Port .* pod-port\/shop\//m },
      json: { words: [`pod/${web}`, '-o', 'json'], has: /"table": "Logical_Switch_Port"/ },
      bad: [
        { words: ['blue'], exitCode: 2, says: /write an identifier, a cookie/ },
        { words: ['house/blue'], exitCode: 2, says: /field=kind value=house\)/ },
        { words: ['ffffffff'], exitCode: 1, says: /value=ffffffff\).*write it as ovn-nbctl/ },
      ],
    },
    plan: {
      text: { words: ['-f', 'mole.yaml'], says: /^add +Logical_Switch +ls\/mole /m },
      json: { words: ['-f', 'mole.yaml', '-o', 'json'], has: /"row": "ls\/mole"/ },
      bad: [
        { words: ['-f', 'no-such-file'], exitCode: 2, says: /write the path of a manifest/ },
        { ...wrongFlag, words: ['-f', 'mole.yaml', '--wrong'] },
      ],
    },
    topology: {
      text: { words: [], says: /^vpc ovn-cluster \(default\)/m },
      json: { ...anything, has: /"name": "ovn-cluster"/ },
      bad: [{ words: ['no-such-vpc'], exitCode: 2, says: /field=vpc value=no-such-vpc\).*write one of: / }],
    },
    'ipam who': {
      text: { words: [address], says: /^\S+ +Pod +stock\//m },
      json: { words: [address, '-o', 'json'], has: /"stock\// },
      bad: [{ words: ['nonsense'], exitCode: 2, says: /value=nonsense\).*write an address/ }],
    },
    'ipam verify': {
      text: { words: [], says: /no contradiction/ },
      json: anything,
      bad: [wrongFlag, { words: ['shop'], exitCode: 2, says: /too many arguments/ }],
    },
    'ipam leaks': {
      text: { words: [], says: /no leaks/ },
      json: anything,
      bad: [wrongFlag, { words: ['shop'], exitCode: 2, says: /too many arguments/ }],
    },
    nbctl: {
      text: { words: ['show'], says: /^switch /m },
      json: { words: ['--format=json', 'list', 'Logical_Switch'], has: /"headings":/ },
      bad: [{ words: ['no-such-command'], exitCode: 1, says: /unknown command 'no-such-command'/ }],
    },
    sbctl: {
      text: { words: ['show'], says: /^Chassis /m },
      json: { words: ['--format=json', 'list', 'Chassis'], has: /"headings":/ },
      bad: [{ words: ['no-such-command'], exitCode: 1, says: /unknown command 'no-such-command'/ }],
    },
    icnbctl: { bad: [noInterconnection] },
    icsbctl: { bad: [noInterconnection] },
    vsctl: {
      text: { words: [node, 'show'], says: /Bridge br-int/ },
      json: { words: [node, '--format=json', 'list', 'Bridge'], has: /"headings":/ },
      bad: [noNode, unknownNode('show')],
    },
    ofctl: {
      text: { words: [node, 'show', 'br-int'], says: /OFPT_FEATURES_REPLY/ },
      bad: [noNode, unknownNode('show'), { words: [node, 'show', 'br-none'], exitCode: 1, says: /br-none/ }],
    },
    dpctl: {
      text: { words: [node, '--version'], says: /ovs-dpctl/ },
      bad: [noNode, unknownNode('show')],
    },
    appctl: {
      text: { words: [node, 'version'], says: /Open vSwitch/ },
      bad: [noNode, unknownNode('version')],
    },
    'nb status': {
      text: { words: [], says: /^status: ok$/m },
      json: { words: ['-o', 'json'], has: /"OVN_Northbound"|"leader":/ },
      bad: [wrongFlag, wrongFormat],
    },
    'sb status': {
      text: { words: [], says: /^status: ok$/m },
      json: { words: ['-o', 'json'], has: /"OVN_Southbound"|"leader":/ },
      bad: [wrongFlag, wrongFormat],
    },
    'nb dbstatus': {
      text: { words: [], says: /^ovn-central-\S+ +status: ok +status: ok$/m },
      json: { words: ['-o', 'json'], has: /"nb": "status: ok"/ },
      bad: [wrongFlag],
    },
    'sb dbstatus': {
      text: { words: [], says: /^ovn-central-\S+ +status: ok +status: ok$/m },
      json: { words: ['-o', 'json'], has: /"sb": "status: ok"/ },
      bad: [wrongFlag],
    },
    'nb backup': {
      text: { words: ['case-nb.db'], says: /^backup ovn-nb db to .*case-nb\.db$/m },
      json: { words: ['case-nb.db', '-o', 'json'], has: /"bytes": \d/ },
      bad: [{ words: ['no-such-directory/nb.db'], exitCode: 1, says: /no-such-directory/ }],
    },
    'sb backup': {
      text: { words: ['case-sb.db'], says: /^backup ovn-sb db to .*case-sb\.db$/m },
      json: { words: ['case-sb.db', '-o', 'json'], has: /"bytes": \d/ },
      bad: [{ words: ['no-such-directory/sb.db'], exitCode: 1, says: /no-such-directory/ }],
    },
    // databases.ts restores, `ha` kicks.
    'nb restore': {
      bad: [
        { words: ['case-nb.db'], exitCode: 2, says: /required option '--yes' not specified/ },
        {
          words: ['no-such-file', '--yes'],
          exitCode: 2,
          says: /write the path of a file that nb backup has written/,
        },
        { words: ['mole.yaml', '--yes'], exitCode: 1, says: /ended with [1-9]/ },
      ],
    },
    'nb kick': { bad: [noDatabase("unknown option '--wrong'|missing required argument 'server'")] },
    'sb kick': { bad: [noDatabase("unknown option '--wrong'|missing required argument 'server'")] },
    'ovn-trace': {
      text: { words: [web, address, 'icmp'], says: /output to "db-/ },
      json: { words: [web, address, 'icmp', '-o', 'json'], has: /"outcome": "delivered"/ },
      bad: [
        unknownPod(address, 'icmp'),
        { words: [web, 'nonsense', 'icmp'], exitCode: 2, says: /value=nonsense\)/ },
        { words: [web, address, 'tcp'], exitCode: 2, says: /port/i },
      ],
    },
    trace: {
      text: { words: [web, address, 'arp'], says: /Start OVS Tracing/ },
      json: { words: [web, address, 'tcp', '80', '-o', 'json'], has: /"outcome": "delivered"/ },
      bad: [
        unknownPod(address, 'icmp'),
        { words: [web, address, 'carrier-pigeon'], exitCode: 2, says: /pigeon/ },
      ],
    },
    tcpdump: {
      text: {
        words: [`node//${node}`, '-i', 'ovn0', '-c', '1', 'icmp or tcp or udp or arp or ip6'],
        says: / (IP6?|ARP),? /,
      },
      bad: [
        unknownPod(),
        { words: [web, '--no-such-flag'], exitCode: 1, says: /no-such-flag|unrecognized|option/ },
      ],
    },
    diagnose: {
      text: { words: ['node', node], says: /^WHERE +CHECK +STATE/m },
      json: { words: ['node', node, '-o', 'json'], has: /"findings":/ },
      bad: [
        { words: ['node', 'no-such-node'], exitCode: 1, says: /no-such-node/ },
        { words: ['house'], exitCode: 2, says: /Allowed choices/ },
      ],
    },
    'env-check': {
      text: { words: [node], says: /^WHERE +CHECK +STATE/m },
      json: { words: [node, '-o', 'json'], has: /"check": "ip_forward"/ },
      bad: [{ words: ['no-such-node'], exitCode: 1, says: /no-such-node/ }],
    },
    log: {
      text: { words: ['linux', '--lines', '5'], says: /^Collected files have been saved/m },
      json: { words: ['ovn', '--lines', '5', '-o', 'json'], has: /"files": \d/ },
      bad: [
        { words: ['nobody'], exitCode: 2, says: /Allowed choices/ },
        { words: ['all', '--lines', 'x'], exitCode: 2, says: /write a number/ },
      ],
    },
    matrix: {
      text: { words: [], says: /^FROM \\ TO, MS /m },
      json: { words: ['-o', 'json'], has: /"measured":/ },
      bad: [{ words: ['--of', 'houses'], exitCode: 2, says: /Allowed choices/ }],
    },
    // deeds.ts measures.
    perf: { bad: [{ words: ['--from', 'no-such-node'], exitCode: 1, says: /no-such-node/ }, wrongFlag] },
    reload: {
      text: { words: ['kube-ovn-monitor'], says: /^kube-ovn-monitor +restarted +\d+\.\d s$/m },
      json: { words: ['kube-ovn-monitor', '-o', 'json'], has: /"isInstalled": true/ },
      bad: [
        { words: ['nobody'], exitCode: 2, says: /write one of: ovn-central, / },
        { words: ['--timeout', 'x'], exitCode: 2, says: /write a number of seconds/ },
      ],
    },
    'support-bundle': {
      text: { words: ['case-bundle', '--lines', '5'], says: /^\d+ files in .*case-bundle$/m },
      json: { words: ['case-bundle', '--lines', '5', '-o', 'json'], has: /"missing": \[\]/ },
      bad: [wrongFlag],
    },
    version: {
      text: { words: [], says: /^kubernetes +v1\./m },
      json: { words: ['-o', 'json'], has: /"kubernetes": "v1\./ },
      bad: [wrongFlag, wrongFormat],
    },
    completion: {
      text: { words: ['bash'], says: /^complete -o default -F _kubectl_ko kubectl-ko$/m },
      bad: [{ words: ['tcsh'], exitCode: 2, says: /Allowed choices are bash, zsh, fish, kubectl/ }],
    },
  }
}
