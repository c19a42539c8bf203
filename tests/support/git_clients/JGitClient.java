import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.lib.PersonIdent;
import org.eclipse.jgit.transport.CredentialsProvider;
import org.eclipse.jgit.transport.PushResult;
import org.eclipse.jgit.transport.RefSpec;
import org.eclipse.jgit.transport.RemoteRefUpdate;
import org.eclipse.jgit.transport.UsernamePasswordCredentialsProvider;

/** A client of Git: `JGitClient.java COMMAND …`; `foreign_git.ts` says which. */
public class JGitClient {
  private static final CredentialsProvider ACCESS =
      new UsernamePasswordCredentialsProvider(System.getenv("GIT_USER"), System.getenv("GIT_SECRET"));
  private static final PersonIdent WHO = new PersonIdent("Ann", "ann@example.org");

  public static void main(String[] arguments) throws Exception {
    String[] rest = Arrays.copyOfRange(arguments, 1, arguments.length);
    if (arguments[0].equals("clone")) {
      var command = Git.cloneRepository().setURI(rest[0]).setDirectory(new File(rest[1]));
      if (rest.length > 2 && !rest[2].equals("0")) command.setDepth(Integer.parseInt(rest[2]));
      command.setCredentialsProvider(ACCESS).call().close();
      return;
    }
    try (Git git = Git.open(new File(rest[0]))) {
      switch (arguments[0]) {
        case "fetch" -> {
          var command = git.fetch().setCredentialsProvider(ACCESS);
          if (rest.length > 1 && !rest[1].equals("0")) command.setDepth(Integer.parseInt(rest[1]));
          command.call();
        }
        case "commit" -> {
          Files.writeString(Path.of(rest[0], rest[1]), rest[2]);
          git.add().addFilepattern(rest[1]).call();
          git.commit().setMessage(rest[3]).setAuthor(WHO).setCommitter(WHO).call();
        }
        case "tag" ->
            git.tag().setName(rest[1]).setMessage(rest[2]).setAnnotated(true).setTagger(WHO).call();
        case "push" -> push(git, Arrays.asList(rest).subList(1, rest.length));
        default -> throw new IllegalArgumentException(arguments[0]);
      }
    }
  }

  private static void push(Git git, List<String> specs) throws Exception {
    var command = git.push().setRemote("origin").setCredentialsProvider(ACCESS)
        .setRefSpecs(specs.stream().map(RefSpec::new).toList());
    boolean isRefused = false;
    for (PushResult result : command.call()) {
      System.err.print(result.getMessages());
      for (RemoteRefUpdate update : result.getRemoteUpdates()) {
        var status = update.getStatus();
        if (status == RemoteRefUpdate.Status.OK || status == RemoteRefUpdate.Status.UP_TO_DATE) continue;
        System.err.println(update.getRemoteName() + ": " + status + " " + update.getMessage());
        isRefused = true;
      }
    }
    if (isRefused) System.exit(1);
  }
}
