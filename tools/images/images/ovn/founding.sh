# Whether a member without a raft file founds its cluster, joins one, or waits. Sourced after databases.sh.
#
# A member that has to find out answers in the place of its database: what it has, which members it was given, and who
# claims it. So the others can tell one that has nothing from one that is silent, and silence is no consent:
#
# - A cluster id that any member gives is that of the cluster to join, whether it has a leader now or not.
# - Otherwise the first of the list founds one, when a majority of the list (itself included) waits as well.
# - The data of a standalone database go before that: who has them founds, when all of the list were asked.
# - Who is to found claims itself, then the others. A member is claimed by one at a time, so of two only one has most.
# shellcheck shell=bash

# What is awaited, a line for the reader; the probes look for it.
awaited_file() {
  echo "/run/ovn/ovn$1_db.awaited"
}

waiting_control() {
  echo "/run/ovn/ovn$1_db.waiting.ctl"
}

# Members that do not list the same are not of one cluster. A hash, so that nothing of the list is in a transaction; it
# begins with a letter, so that it is printed without quotes (ovsdb-client).
list_id=list_$(sha256sum <<<"${members[*]}")
list_id=${list_id%% *}

declare -A number_of=()
for number in "${!members[@]}"; do
  number_of[${members[number]}]=$number
done

others() {
  local member
  for member in "${members[@]}"; do
    [[ $member == "$own_address" ]] || echo "$member"
  done
}

own_state() {
  [[ -e $(db_file "$1") ]] && echo data || echo empty
}

# server_of nb|sb MEMBER: where it answers.
server_of() {
  if [[ $2 == "$own_address" ]]; then
    echo "unix:/run/ovn/ovn$1_db.waiting.sock"
  else
    echo "$protocol:$(bracketed "$2"):${client_port[$1]}"
  fi
}

# start_answering nb|sb: serves the local configuration where the database will be, until stop_answering.
start_answering() {
  local limits
  limits=$(tls_limits "$1-db")
  # shellcheck disable=SC2086 # one word an option
  ovsdb-server "${tls_options[@]}" ${limits//--ovn-$1-db-/--} --detach --no-chdir -vconsole:off -vsyslog:off "--pidfile=/run/ovn/ovn$1_db.waiting.pid" \
    "--unixctl=$(waiting_control "$1")" "--remote=p$(server_of "$1" "$own_address")" \
    --remote=db:Local_Config,Config,connections "$(local_config_file "$1")"
  ovsdb-client transact "$(server_of "$1" "$own_address")" "[\"Local_Config\",{\"op\":\"update\",\"table\":\"Connection\",
    \"where\":[],\"row\":{\"external_ids\":[\"map\",[[\"members\",\"$list_id\"],[\"state\",\"$(own_state "$1")\"],
    [\"claim\",\"by_none\"]]]}}]" >/dev/null
}

stop_answering() {
  local pid
  rm -f "$(awaited_file "$1")"
  pid=$(<"/run/ovn/ovn$1_db.waiting.pid")
  ovn-appctl -t "$(waiting_control "$1")" exit
  tail --pid="$pid" --follow /dev/null
}

# claim nb|sb MEMBER FROM TO: each `by_none` or `by_` and a member's number. False unless it was claimed like that, by
# somebody with the same list, or can not be asked.
claim() {
  local result
  result=$(ovsdb-client "${tls_options[@]}" --timeout=5 transact "$(server_of "$1" "$2")" "[\"Local_Config\",
    {\"op\":\"wait\",\"timeout\":0,\"table\":\"Connection\",\"columns\":[\"role\"],\"until\":\"!=\",\"rows\":[],
      \"where\":[[\"external_ids\",\"includes\",[\"map\",[[\"claim\",\"$3\"],[\"members\",\"$list_id\"]]]]]},
    {\"op\":\"mutate\",\"table\":\"Connection\",\"where\":[],\"mutations\":[
      [\"external_ids\",\"delete\",[\"set\",[\"claim\"]]],
      [\"external_ids\",\"insert\",[\"map\",[[\"claim\",\"$4\"]]]]]}]" 2>/dev/null) && [[ $result != *error* ]]
}

# dump nb|sb MEMBER DATABASE TABLE COLUMN...: what a member has there, a line of CSV a row; nothing if it is silent.
dump() {
  ovsdb-client "${tls_options[@]}" --timeout=5 --format=csv --no-headings dump "$(server_of "$1" "$2")" "${@:3}" 2>/dev/null || true
}

# ask nb|sb MEMBER: `cluster ID LEADS`, `joining`, `standalone`, `waiting empty|data CLAIM`, `stranger` (waits with
# another list), or nothing.
ask() {
  local served said
  served=$(dump "$1" "$2" _Server Database cid leader model name)
  if [[ $served =~ ([0-9a-f-]{36}),(true|false),clustered,${schema[$1]} ]]; then
    if [[ ${BASH_REMATCH[1]} == 00000000-* ]]; then
      echo joining
    else
      echo "cluster ${BASH_REMATCH[1]} ${BASH_REMATCH[2]}"
    fi
  elif [[ $served == *",standalone,${schema[$1]}"* ]]; then
    echo standalone
  elif [[ $served == *,Local_Config* ]]; then
    said=$(dump "$1" "$2" Local_Config Connection external_ids)
    if [[ $said =~ claim=(by_[a-z0-9]+),\ members=(list_[0-9a-f]+),\ state=([a-z]+) ]]; then
      [[ ${BASH_REMATCH[2]} == "$list_id" ]] && echo "waiting ${BASH_REMATCH[3]} ${BASH_REMATCH[1]}" || echo stranger
    fi
  fi
}

# Answers of the last round, by `DATABASE MEMBER`; and who had data in any round: to be silent since does not make them
# less.
declare -A answer=() had_data=()

# ask_all DATABASE...: all others at once, since one that is cut off takes its time.
ask_all() {
  local db member directory questions=()
  directory=$(mktemp --directory)
  for db in "$@"; do
    for member in $(others); do
      ask "$db" "$member" >"$directory/$db-$member" &
      questions+=($!)
    done
  done
  wait "${questions[@]}"
  for db in "$@"; do
    for member in $(others); do
      answer[$db $member]=$(<"$directory/$db-$member")
      case ${answer[$db $member]} in
        'waiting data'* | standalone) had_data[$db $member]=1 ;;
        'waiting empty'*) had_data[$db $member]='' ;;
      esac
    done
  done
  rm -r "$directory"
}

# decide nb|sb: sets verdict to `join` (with cluster_id and cluster_members), `found`, or the empty word, with awaited.
decide() {
  local member said own asked=1 silent=() strangers=() is_before=true owner=
  own=$(own_state "$1")
  verdict='' awaited='' cluster_id='' cluster_members=()
  for member in "${members[@]}"; do
    if [[ $member == "$own_address" ]]; then
      is_before=false
      continue
    fi
    said=${answer[$1 $member]}
    case $said in
      cluster*) consider_cluster "$member" "$said" ;;
      waiting*) asked=$((asked + 1)) ;;
      stranger) strangers+=("$member") ;;
      *) silent+=("$member${said:+ ($said)}") ;;
    esac
    # Of several that have data, the first one founds.
    if [[ -n ${had_data[$1 $member]:-} && -z $owner && ($own == empty || $is_before == true) ]]; then
      owner=$member
    fi
  done
  if [[ -n $awaited ]]; then
    return
  elif [[ -n $cluster_id ]]; then
    verdict=join
  elif ((${#strangers[@]} > 0)); then
    awaited="the same list of members from ${strangers[*]}, which was given another one than ${members[*]}"
  elif [[ -n $owner ]]; then
    awaited="$owner to found the cluster from its standalone database; if it serves that, its pod has to be replaced"
  elif [[ $own == empty && $own_address != "${members[0]}" ]]; then
    awaited="${members[0]}, the first member, to found the cluster"
  elif ((asked * 2 <= ${#members[@]})); then
    awaited="a majority of ${members[*]} to answer; silent: ${silent[*]}"
  elif [[ $own == data && $own_address != "${members[0]}" ]] && ((asked < ${#members[@]})); then
    awaited="all of ${members[*]} to answer, for this one has the data and is not the first; silent: ${silent[*]}"
  else
    verdict=found
  fi
}

# consider_cluster MEMBER ANSWER: who leads goes first, for it is asked to let this one in.
consider_cluster() {
  local id leads
  read -r _ id leads <<<"$2"
  if [[ -n $cluster_id && $cluster_id != "$id" ]]; then
    awaited="one cluster: $1 is in $id and ${cluster_members[*]} in $cluster_id, so take one of them away"
    return
  fi
  cluster_id=$id
  if [[ $leads == true ]]; then
    cluster_members=("$1" "${cluster_members[@]}")
  else
    cluster_members+=("$1")
  fi
}

# claim_majority nb|sb: this one first, so that whoever it has claimed can see whether that still holds.
claim_majority() {
  local own=by_${number_of[$own_address]} member claimed=()
  for member in "$own_address" $(others); do
    if claim "$1" "$member" by_none "$own"; then
      claimed+=("$member")
    elif [[ $member == "$own_address" ]]; then
      return 1
    fi
  done
  if ((${#claimed[@]} * 2 > ${#members[@]})); then
    return
  fi
  give_up_claims "$1"
  return 1
}

give_up_claims() {
  local own=by_${number_of[$own_address]} member
  for member in $(others) "$own_address"; do
    claim "$1" "$member" "$own" by_none || true
  done
}

# drop_stale_claim nb|sb CLAIM: of somebody who does not claim itself any more, having answered after CLAIM was seen.
drop_stale_claim() {
  local said
  if [[ $2 == by_none || $2 == "by_${number_of[$own_address]}" ]]; then
    return
  fi
  said=${answer[$1 ${members[${2#by_}]}]}
  if [[ $said == waiting* && $said != *" $2" ]]; then
    claim "$1" "$own_address" "$2" by_none || true
  fi
}

# settle DATABASE...: one round for those that are undecided. Leaves in verdicts, by database, what decide has for it;
# with one the database can be started: nobody is answered in its place any more, and a file that joins is there.
declare -A verdicts=()
settle() {
  local db candidates=()
  local -A claimed_by=()
  for db in "$@"; do
    if [[ ! -S $(waiting_control "$db") ]]; then
      start_answering "$db"
    fi
    claimed_by[$db]=$(ask "$db" "$own_address")
  done
  ask_all "$@"
  for db in "$@"; do
    drop_stale_claim "$db" "${claimed_by[$db]##* }"
    decide "$db"
    if [[ $verdict == found ]]; then
      if claim_majority "$db"; then
        candidates+=("$db")
      else
        verdict='' awaited='others, one of which is about to found the cluster'
      fi
    fi
    verdicts[$db]=$verdict
    if [[ $verdict != found ]]; then
      act "$db"
    fi
  done
  if ((${#candidates[@]} == 0)); then
    return
  fi
  # While they were claimed somebody may have answered who was silent.
  ask_all "${candidates[@]}"
  for db in "${candidates[@]}"; do
    decide "$db"
    verdicts[$db]=$verdict
    if [[ $verdict != found ]]; then
      give_up_claims "$db"
    fi
    act "$db"
  done
}

# act nb|sb: as the verdict has it.
act() {
  case $verdict in
    found)
      log "$1: founding a cluster of ${members[*]}"
      stop_answering "$1"
      ;;
    join)
      log "$1: joining cluster $cluster_id of ${cluster_members[*]}"
      stop_answering "$1"
      create_joining_file "$1"
      ;;
    *) tell_awaited "$1" ;;
  esac
}

tell_awaited() {
  local told=''
  if [[ -e $(awaited_file "$1") ]]; then
    told=$(<"$(awaited_file "$1")")
  fi
  if [[ $awaited != "$told" ]]; then
    log "$1: waiting for $awaited"
    echo "$awaited" >"$(awaited_file "$1")"
  fi
}

# create_joining_file nb|sb: of the cluster that was decided on, no other. Data that are not of it are kept beside.
create_joining_file() {
  local file aside remotes=() member
  file=$(db_file "$1")
  for member in "${cluster_members[@]}"; do
    remotes+=("$protocol:$(bracketed "$member"):${raft_port[$1]}")
  done
  if [[ -e $file ]]; then
    aside=$file.standalone-$(date +%s)
    log "$1: the cluster has data of its own, those of the standalone database are kept as $aside"
    mv "$file" "$aside"
  fi
  ovsdb-tool "--cid=$cluster_id" join-cluster "$file" "${schema[$1]}" \
    "$protocol:$(bracketed "$own_address"):${raft_port[$1]}" "${remotes[@]}"
}
