# Ends what its parent started once the parent is gone, for whatever reason. The parent writes one line for each
# process group ("started N", "ended N") and temporary folder ("folder PATH"); the end of standard input is the
# parent's end. Groups get SIGTERM and, where they are still there after five seconds, SIGKILL.
groups=
folders=
while read -r verb value; do
  case $verb in
    started) groups="$groups $value" ;;
    ended)
      kept=
      for group in $groups; do [ "$group" = "$value" ] || kept="$kept $group"; done
      groups=$kept
      ;;
    folder)
      folders="$folders
$value"
      ;;
  esac
done

for group in $groups; do kill -TERM -"$group"; done
for _ in 1 2 3 4 5 6 7 8 9 10; do
  alive=
  for group in $groups; do kill -0 -"$group" && alive=1; done
  [ -z "$alive" ] && break
  sleep 0.5
done
for group in $groups; do kill -KILL -"$group"; done
printf '%s\n' "$folders" | while read -r folder; do
  [ -n "$folder" ] && rm -rf -- "$folder"
done
